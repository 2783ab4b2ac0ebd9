"""What an evaluation says of the machine and of the code that it ran on."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from ccgym.evaluation.sessions import provenance

COMMIT = ("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "theirs")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_commit_is_that_of_the_repository_that_knows_this_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)  # hooks and signatures are the user's
    installed = tmp_path / ".venv" / "ccgym"
    installed.mkdir(parents=True)
    shutil.copy(provenance.__file__, installed)
    for arguments in (["init", "-q", "-b", "main"], COMMIT):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, timeout=60)
    assert provenance._git_summary(installed) == ""
    subprocess.run(["git", "-C", str(tmp_path), "add", str(installed)], check=True, timeout=60)
    assert provenance._git_summary(installed).startswith("branch: main @ ")
