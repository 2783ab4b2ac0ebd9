import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ETC = Path(__file__).resolve().parents[2] / "etc"


@pytest.fixture
def make_venv() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_venv", ETC / "make_venv.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_python_that_is_too_old_is_refused_in_one_line(make_venv: ModuleType) -> None:
    with pytest.raises(SystemExit) as end:
        make_venv.check_python(">=3.99")
    assert "ccgym needs >=3.99" in str(end.value)
    assert "make setup PYTHON=" in str(end.value)


def test_this_python_is_new_enough(make_venv: ModuleType) -> None:
    make_venv.check_python(">=3.10")


def test_without_apt_the_set_up_says_what_is_skipped_and_goes_on(tmp_path: Path) -> None:
    python3 = shutil.which("python3")
    assert python3 is not None
    (tmp_path / "python3").symlink_to(python3)
    done = subprocess.run(
        [ETC / "install-system-packages.sh", "--tests"],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "skipped, no apt-get here" in done.stdout
    assert "mahimahi" in done.stdout
    assert "libgtest-dev" in done.stdout
    assert "training and evaluation in the twin work" in done.stdout
