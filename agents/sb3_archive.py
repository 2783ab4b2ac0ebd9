"""The `.zip` that stable-baselines3 saves a model in, read without PyTorch, whose import takes seconds."""

import json
import zipfile
from pathlib import Path
from typing import Any

from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.outside_files import opened

MOST_BYTES = {"data": 16 << 20, "policy.pth": 256 << 20}
"""Largest parts of an archive once unpacked: a few compressed bytes may unpack to very many."""
NO_MODEL = "no model of stable-baselines3"


class ModelError(ValueError):
    """A file is no model that can be run. One line: what is wrong, what would be right."""


def read_archive(path: Path) -> tuple[dict[str, Any], bytes]:
    """Reads the description of the model, and its weights as PyTorch has saved them.

    Raises:
        ModelError: the file is no such archive.
    """
    try:
        with opened(path, "the model") as stream, zipfile.ZipFile(stream) as archive:
            data, weights = (_part(path, archive, name) for name in MOST_BYTES)
        told = json.loads(data)
    except ModelError:
        raise
    except InputError as error:
        raise ModelError(str(error)) from None
    except KeyError:
        raise ModelError(f"{path}: {NO_MODEL}: it should hold data and policy.pth") from None
    except Exception as error:  # zipfile raises anything on a broken archive
        raise ModelError(f"{path}: {NO_MODEL}: {excerpt(error)}") from None
    if not isinstance(told, dict):
        raise ModelError(f"{path}: {NO_MODEL}: its data should be a table")
    return told, weights


def _part(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    most_bytes = MOST_BYTES[name]
    if archive.getinfo(name).file_size > most_bytes:
        raise ModelError(f"{path}: {name} has more than {most_bytes >> 20} MB")
    return archive.read(name)
