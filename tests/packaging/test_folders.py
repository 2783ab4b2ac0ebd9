"""The folders of the tree: none is overcrowded, and nobody reaches into another module's private names."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_MODULES = 15
"""Of a folder, one level: more have no common sentence."""
NATIVE = "_core"
"""The binding, which every layer above may use."""


def source_folders(root: Path) -> list[Path]:
    """Every folder of Python modules that is shipped."""
    folders = {path.parent for path in root.glob("*/__init__.py")}
    return sorted({path.parent for folder in folders for path in folder.rglob("*.py")})


def crowded(root: Path) -> list[str]:
    """Folders with too many modules, with their number."""
    counts = {
        folder: sum(path.name != "__init__.py" for path in folder.glob("*.py"))
        for folder in source_folders(root)
    }
    return [f"{folder.relative_to(root)}: {n}" for folder, n in counts.items() if n > MOST_MODULES]


def private_names(path: Path) -> Iterator[str]:
    """Private names of other modules of ours, imported or reached through the module."""
    modules: set[str] = set()
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or str(node.module).startswith("ccgym")):
            names = [alias.name for alias in node.names]
            yield from (name for name in names if is_private(name))
            modules |= {alias.asname or alias.name for alias in node.names if alias.name.islower()}
    modules -= assigned_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in modules and is_private(
                name
            ):
                yield f"{module}.{name}"


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != NATIVE


def assigned_names(tree: ast.AST) -> set[str]:
    """Those that hide an import somewhere in the module."""
    nodes = list(ast.walk(tree))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in nodes if isinstance(node, ast.arg)}


def trespasses(root: Path) -> list[str]:
    """All uses of another module's private names, as "folder/file.py: name"."""
    return [
        f"{path.relative_to(root)}: {name}"
        for folder in source_folders(root)
        for path in sorted(folder.glob("*.py"))
        for name in private_names(path)
    ]


def test_no_folder_is_crowded() -> None:
    assert crowded(ROOT) == []


def test_no_module_uses_a_private_name_of_another() -> None:
    assert trespasses(ROOT) == []


def test_every_folder_says_in_a_sentence_what_is_in_it() -> None:
    docstrings = {
        folder: ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
        for folder in source_folders(ROOT)
    }
    assert [str(folder.relative_to(ROOT)) for folder, text in docstrings.items() if not text] == []


@pytest.mark.parametrize("count", [MOST_MODULES, MOST_MODULES + 1])
def test_a_crowded_folder_is_found(count: int, tmp_path: Path) -> None:
    (tmp_path / "envs" / "specs").mkdir(parents=True)
    for name in ("envs/__init__.py", *(f"envs/specs/spec_{number}.py" for number in range(count))):
        (tmp_path / name).touch()
    assert crowded(tmp_path) == ([f"envs/specs: {count}"] if count > MOST_MODULES else [])


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("from .specs import _parse", "_parse"),
        ("from ccgym.envs.specs import _parse", "_parse"),
        ("from . import specs\nspecs._parse()", "specs._parse"),
    ],
)
def test_a_private_name_of_another_module_is_found(line: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "__init__.py").touch()
    (tmp_path / "envs" / "path.py").write_text(f"from . import _core\n{line}\n_core.simulate()\n")
    assert trespasses(tmp_path) == [f"envs/path.py: {name}"]
