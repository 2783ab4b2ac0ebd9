"""The YAML files that ship with the project, found as package data wherever it is installed."""

from importlib import resources
from pathlib import Path


def config_files(kind: str) -> dict[str, Path]:
    """Returns the files of one kind (`emulators`, `training`, `evaluation`) by their stem, sorted."""
    folder = Path(str(resources.files(__name__))) / kind
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}
