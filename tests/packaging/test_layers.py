"""The layers of the tree, lowest first: nothing imports or includes upward."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PYTHON_LAYERS = {
    "configs": 0,
    "agents": 1,
    "envs": 1,
    "oracle": 2,
    "deploy": 2,
    "training": 3,
    "tunnel": 3,
    "dagger": 4,
    "rl": 4,
    "evaluation": 5,
    "calibration": 6,
    "experiments": 7,
    "bench": 7,
    "cli": 8,
}
CPP_LAYERS = {"transport": 0, "agents": 1, "envs": 2, "deploy/endpoint": 3, "tunnel": 4}


def imported_packages(path: Path) -> Iterator[str]:
    """Every ccgym package that a Python file names in an import, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("ccgym."))


def python_offences(root: Path) -> list[str]:
    """Imports of a higher layer, as "folder/file.py -> package"."""
    return [
        f"{path.relative_to(root)} -> {package}"
        for folder, layer in PYTHON_LAYERS.items()
        for path in sorted((root / folder).rglob("*.py"))
        for package in imported_packages(path)
        if PYTHON_LAYERS[package] > layer
    ]


def layer_of(include: str) -> int | None:
    """The layer of an included file; None: it is not one of ours."""
    return next((layer for folder, layer in CPP_LAYERS.items() if include.startswith(f"{folder}/")), None)


def cpp_offences(root: Path) -> list[str]:
    """Includes of a higher layer, as "folder/file.hh -> included file"."""
    return [
        f"{path.relative_to(root)} -> {include}"
        for folder, layer in CPP_LAYERS.items()
        for path in sorted([*(root / folder).rglob("*.hh"), *(root / folder).rglob("*.cc")])
        for include in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)
        if (layer_of(include) or 0) > layer
    ]


def test_python_imports_never_go_upward() -> None:
    assert python_offences(ROOT) == []


def test_what_the_trainers_share_knows_none_of_them() -> None:
    packages = {package for path in (ROOT / "training").rglob("*.py") for package in imported_packages(path)}
    assert not packages & {"dagger", "rl"}


def test_cpp_includes_never_go_upward() -> None:
    assert cpp_offences(ROOT) == []


def test_every_folder_with_python_modules_has_a_layer() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/*.py")} - {"etc", "examples", "tests"}
    assert folders <= set(PYTHON_LAYERS)


def test_the_page_of_the_architecture_has_the_same_layers() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| (\d) \| (.*?) \|", page, re.MULTILINE)
    named = {(name, int(layer)) for layer, folders in rows for name in re.findall(r"`(\w+)/`", folders)}
    assert named == {*PYTHON_LAYERS.items(), ("transport", 0)}


@pytest.mark.parametrize(
    "line",
    [
        "from ccgym.cli.main import main",
        "import ccgym.cli.main",
        "from ccgym import cli",
        "def lazily():\n    from ccgym.cli import main",
    ],
)
def test_an_import_that_goes_upward_is_found(line: str, tmp_path: Path) -> None:
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "path.py").write_text(
        f"from . import emulators\nfrom ccgym.agents import lstm\n{line}\n"
    )
    assert python_offences(tmp_path) == ["envs/path.py -> cli"]


def test_an_include_that_goes_upward_is_found(tmp_path: Path) -> None:
    (tmp_path / "agents" / "controllers").mkdir(parents=True)
    includes = '#include <vector>\n#include "transport/sender.hh"\n#include "envs/twin/link.hh"\n'
    (tmp_path / "agents" / "controllers" / "copa.cc").write_text(includes)
    assert cpp_offences(tmp_path) == ["agents/controllers/copa.cc -> envs/twin/link.hh"]
