"""Copies files to where an unprivileged user can read and run them."""

import shutil
from pathlib import Path


class StagedFiles:
    """Copies each file once, to a subfolder of `folder` that the unprivileged user can enter."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._staged: dict[Path, Path] = {}

    def stage(self, file: Path) -> Path:
        """Copies the file unless that is done; returns the path of the copy."""
        if file not in self._staged:
            folder = self._folder / f"staged-{len(self._staged)}"
            folder.mkdir(mode=0o755)
            copy = folder / file.name
            shutil.copyfile(file, copy)
            copy.chmod(0o755)
            self._staged[file] = copy
        return self._staged[file]
