"""What is shipped: the wheel has every file of every package, and works away from the source tree."""

import ast
import configparser
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OTHERS = {".pkg", ".venv", "build", "etc", "examples", "tests"}
COMPILED = {".cc", ".hh"}


def setup_cfg() -> configparser.RawConfigParser:
    setup = configparser.RawConfigParser()
    setup.read(ROOT / "setup.cfg")
    return setup


PACKAGES = setup_cfg()["options"]["packages"].split()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked; made in a folder of its own, so that nothing stale slips in."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ["build", "--build-base", f"{folder}/build", "egg_info", "--egg-base", f"{folder}"]
    pack = ["bdist_wheel", "--bdist-dir", f"{folder}/bdist", "--dist-dir", f"{folder}"]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(
        [sys.executable, "setup.py", "--quiet", *build, *pack],
        cwd=ROOT,
        env=environment,
        check=True,
        timeout=280,
    )
    (packed,) = folder.glob("*.whl")
    with zipfile.ZipFile(packed) as archive:
        for member in archive.infolist():
            unpacked = Path(archive.extract(member, folder / "site"))
            unpacked.chmod(member.external_attr >> 16 or 0o755)
    return folder / "site"


def folder_of(package: str) -> Path:
    return ROOT.joinpath(*package.split(".")[1:])


def shipped_files(package: str) -> list[Path]:
    """Every file of a package's folder that is not compiled, relative to the root of the project."""
    return [
        path.relative_to(ROOT)
        for path in sorted(folder_of(package).rglob("*"))
        if path.is_file() and path.suffix not in COMPILED and "__pycache__" not in path.parts
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_wheel_has_every_file_of_the_package(package: str, wheel: Path) -> None:
    assert [str(path) for path in shipped_files(package) if not (wheel / "ccgym" / path).is_file()] == []


def test_the_wheel_has_what_is_compiled(wheel: Path) -> None:
    assert list((wheel / "ccgym" / "envs").glob("_core.*.so"))
    assert (wheel / "ccgym" / "envs" / "_core.pyi").exists()
    for program in ("ccgym-sender", "ccgym-receiver", "ccgym-tunnel"):
        assert os.access(wheel / "ccgym" / "deploy" / "bin" / program, os.X_OK)


def test_the_wheel_works_away_from_the_source_tree(wheel: Path, tmp_path: Path) -> None:
    program = (
        "import importlib, sys\nfor name in sys.argv[1:]: print(importlib.import_module(name).__path__[0])"
    )
    imported = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport ccgym.envs._core", *PACKAGES],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert imported.stdout.split() == [str(wheel / name.replace(".", "/")) for name in PACKAGES]


def test_every_folder_with_python_modules_is_a_package() -> None:
    folders = {path.parent.relative_to(ROOT) for path in [*ROOT.glob("*/*.py"), *ROOT.glob("*/*/*.py")]}
    packages = {".".join(["ccgym", *folder.parts]) for folder in folders if folder.parts[0] not in OTHERS}
    assert packages <= set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_files_of_a_package_are_found_in_an_editable_installation(package: str) -> None:
    # Without an __init__.py they are not: the import hook is then taken for one of the package's folders.
    program = "import sys; from importlib.resources import files; print(files(sys.argv[1]))"
    found = subprocess.run(
        [sys.executable, "-c", program, package],
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert Path(found.stdout.strip()) == folder_of(package)


def test_no_folder_of_the_root_is_called_ccgym() -> None:
    assert not (ROOT / "ccgym").exists()  # it would hide the namespace from `python -m`


def test_the_build_asks_for_the_same_tools_with_and_without_isolation() -> None:
    requires = re.search(r"^requires = (\[.*\])$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert requires is not None
    setup = setup_cfg()
    installed = setup["options"]["install_requires"] + setup["options.extras_require"]["dev"]
    assert set(ast.literal_eval(requires[1])) <= set(installed.split())
