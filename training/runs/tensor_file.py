"""Files of tensors in PyTorch's format, written whole or not at all."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from ccgym.envs.outside_files import read_bytes, replaced


def load_tensors(file: Path, what: str) -> dict[str, Any]:
    """Reads what `save_tensors` wrote. Raises InputError: no regular file; and whatever PyTorch raises."""
    content: dict[str, Any] = torch.load(
        BytesIO(read_bytes(file, what)), map_location="cpu", weights_only=True
    )
    return content


def save_tensors(state: Mapping[str, Any], file: Path) -> None:
    """Writes what `torch.load` reads, whole or not at all.

    Raises:
        OSError: it cannot be written, as on a full disk; PyTorch itself would raise an error of its archive.
    """
    content = BytesIO()
    torch.save(dict(state), content)
    with replaced(file) as fresh:
        fresh.write_bytes(content.getbuffer())
