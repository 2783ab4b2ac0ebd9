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
    make_venv.check_python(">=3.11")


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


FAKE_SYSCTL = """#!/bin/bash
case $1 in
  -n) cat "$KERNEL/$2" ;;
  -w) echo "${2#*=}" >"$KERNEL/${2%%=*}" ;;
esac
"""


def test_the_kernel_is_set_by_root_and_left_alone_by_others(tmp_path: Path) -> None:
    values = {"ip_forward": "0", "tcp_available_congestion_control": "reno bbr cubic vegas"}
    for name, value in {**values, "tcp_allowed_congestion_control": "vegas reno"}.items():
        (tmp_path / f"net.ipv4.{name}").write_text(value + "\n")
    (tmp_path / "sysctl").write_text(FAKE_SYSCTL)
    (tmp_path / "sysctl").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "KERNEL": str(tmp_path)}

    def prepare() -> str:
        script = [ETC / "prepare-network.sh"]
        return subprocess.run(
            script, env=environment, capture_output=True, text=True, timeout=60, check=True
        ).stdout

    first, second = prepare(), prepare()
    forwarding = (tmp_path / "net.ipv4.ip_forward").read_text().strip()
    allowed = (tmp_path / "net.ipv4.tcp_allowed_congestion_control").read_text().strip()
    if os.geteuid() == 0:
        assert first.endswith("network: set\n")
        assert second == "network: ready\n"
        assert (forwarding, allowed) == ("1", "vegas reno bbr cubic")
    else:
        assert "not root" in first
        assert (forwarding, allowed) == ("0", "vegas reno")
