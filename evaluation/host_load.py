"""The load by other programs during a run in real time, kept with the run's files."""

import json
from pathlib import Path

from ccgym.envs.errors import InputError
from ccgym.envs.outside_files import read_json
from ccgym.evaluation.run_files import replaced_text

BUSY_CORES = 0.2
"""A higher load by other programs can make packets late."""
_KEY = "others_cores"


def write_others_cores(path: Path, others_cores: float) -> None:
    """Writes the mean number of cores that other programs took."""
    with replaced_text(path) as stream:
        json.dump({_KEY: round(others_cores, 3)}, stream)
        stream.write("\n")


def read_others_cores(path: Path) -> float | None:
    """Reads that number; None: none was written, as for a run in virtual time.

    Raises:
        InputError: the file is something else.
    """
    if not path.exists():
        return None
    content = read_json(path, "the load of the machine")
    cores = content.get(_KEY) if isinstance(content, dict) else None
    if not isinstance(cores, int | float) or not 0 <= cores < 1e6:
        raise InputError(f"{path}: not the load of the machine: {_KEY} should be a number of cores")
    return float(cores)


def busy_remarks(path: Path) -> list[str]:
    """The remark on a run during which the machine was busy.

    Raises:
        InputError: as `read_others_cores`.
    """
    cores = read_others_cores(path)
    if cores is None or cores <= BUSY_CORES:
        return []
    return [f"the machine was busy: other programs took {cores:.1f} of its cores"]
