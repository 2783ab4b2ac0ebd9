"""Copies of files where an unprivileged user can read and run them."""

import shutil
from pathlib import Path


class StagedFiles:
    """Each file once, in a subfolder of `folder`, which that user can enter."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._staged: dict[Path, Path] = {}

    def stage(self, file: Path) -> Path:
        """Where the copy is."""
        if file not in self._staged:
            folder = self._folder / f"staged-{len(self._staged)}"
            folder.mkdir(mode=0o755)
            copy = folder / file.name
            shutil.copyfile(file, copy)
            copy.chmod(0o755)
            self._staged[file] = copy
        return self._staged[file]
