"""The C++ libraries, as a project outside of this one finds them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CMAKE = Path(sys.executable).with_name("cmake")


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_example_is_built_on_the_installed_libraries_and_runs(tmp_path: Path) -> None:
    prefix, build = tmp_path / "prefix", tmp_path / "build"
    run(CMAKE, "--install", ROOT / "build" / "release", "--component", "library", "--prefix", prefix)
    example = ROOT / "examples" / "my_controller"
    run(CMAKE, "-S", example, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    run(CMAKE, "--build", build)
    printed = run(build / "my_controller")
    figures = re.findall(r"^([\w-]+): ([\d.]+) Mbit/s, p95 delay ([\d.]+) ms$", printed, re.MULTILINE)
    assert [scheme for scheme, _, _ in figures] == ["mine", "eager-copa", "cubic"]
    for _, mbps, delay_ms in figures:
        assert 10 < float(mbps) < 12.1
        assert 20 < float(delay_ms) < 90


def test_nothing_of_this_folder_is_in_the_installed_package(tmp_path: Path) -> None:
    run(CMAKE, "--install", ROOT / "build" / "release", "--component", "library", "--prefix", tmp_path)
    package = (tmp_path / "lib" / "cmake" / "ccgym").glob("*.cmake")
    texts = [file.read_text() for file in package]
    assert len(texts) == 3
    assert not any(str(ROOT) in text for text in texts)
    assert "ccgym::transport" in "".join(texts)
