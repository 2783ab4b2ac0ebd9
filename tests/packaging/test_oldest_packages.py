"""`make oldest` tests the oldest packages that are claimed: all that is claimed, from a version on."""

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from ccgym.tests.scripts import load_script

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def oldest_packages() -> ModuleType:
    return load_script("oldest_packages")


@pytest.fixture
def setup_cfg() -> configparser.RawConfigParser:
    setup = configparser.RawConfigParser()
    setup.read(ROOT / "setup.cfg")
    return setup


def test_every_requirement_names_its_oldest_version(
    oldest_packages: ModuleType, setup_cfg: configparser.RawConfigParser
) -> None:
    wanted = oldest_packages.claims(setup_cfg)
    assert [each for each in wanted if oldest_packages.least_version(each) is None] == []
    assert set(setup_cfg["options"]["install_requires"].split()) < set(wanted)


def test_every_extra_but_that_of_the_developers_is_tested(
    oldest_packages: ModuleType, setup_cfg: configparser.RawConfigParser
) -> None:
    assert {"dev", *oldest_packages.EXTRAS} == set(setup_cfg["options.extras_require"])


def test_every_tool_of_the_build_is_tested(
    oldest_packages: ModuleType, setup_cfg: configparser.RawConfigParser
) -> None:
    requires = re.findall(r'"([^"]+>=[^"]+)"', (ROOT / "pyproject.toml").read_text())
    assert {oldest_packages.name_of(each) for each in requires} == oldest_packages.BUILD_TOOLS
    assert set(requires) <= set(oldest_packages.claims(setup_cfg))


def test_an_oldest_version_other_than_the_one_tested_is_named(
    oldest_packages: ModuleType,
) -> None:
    installed = {"torch": "2.8.0", "minari": "0.5.3", "setuptools": "77.0.1", "rich": "13.8.0"}
    wanted = ["torch>=2.4", "Minari[hdf5]>=0.5.3,<0.6", "setuptools>=77", "rich"]
    told = [line.split(":")[0] for line in oldest_packages.untrue(wanted, installed)]
    assert told == ["torch>=2.4", "rich"]


@pytest.mark.parametrize("made", [False, True])
def test_without_uv_it_says_so_in_one_line(made: bool, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    script = shutil.copy(ROOT / "etc" / "oldest_packages.py", tmp_path / "etc")
    uv = tmp_path / ".venv" / "bin" / "uv"
    if made:
        uv.parent.mkdir(parents=True)
        uv.touch(mode=0o644)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"{uv}: not there, or no program: `make setup`" in line
    assert not (tmp_path / "build").exists()


def test_what_a_command_prints_is_returned_and_its_failure_is_one_line(
    oldest_packages: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    assert oldest_packages.run(["echo", "torch==2.4"], 60) == "torch==2.4\n"
    with pytest.raises(SystemExit, match=r"^make oldest: sh -c .*: failed with exit code 3, see above$"):
        oldest_packages.run(["sh", "-c", "echo no such package >&2; exit 3"], 60)
    assert capfd.readouterr().err == "no such package\n"


def test_a_command_without_end_is_ended(oldest_packages: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"^make oldest: sleep 60: no end after 0\.1 s"):
        oldest_packages.run(["sleep", "60"], 0.1)


def test_the_tests_that_make_oldest_runs_exist() -> None:
    (named,) = re.findall(r"^oldest_tests := ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    tests = [test.partition("::") for test in named.replace("\\\n", "").split()]
    assert tests
    assert [file for file, *_ in tests if not (ROOT / "tests" / file).is_file()] == []
    assert [name for file, _, name in tests if name not in (ROOT / "tests" / file).read_text()] == []
