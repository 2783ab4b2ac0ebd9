"""The ablation of the companion finds every mechanism that it takes out, and leaves the source as it was."""

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest
from ccgym.tests.scripts import ETC, load_script

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Weffc++", "-Werror")
COMPILE_S = 120


@pytest.fixture
def ablation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = load_script("ablation")
    monkeypatch.setattr(module, "COMPANION", shutil.copytree(module.COMPANION, tmp_path / "companion"))
    return module


def test_every_mechanism_is_taken_out_and_put_back(ablation: ModuleType) -> None:
    for cut in ablation.CUTS.values():
        before = (ablation.COMPANION / cut.file).read_text()
        with ablation.without(cut):
            assert (ablation.COMPANION / cut.file).read_text() == before.replace(cut.old, cut.new) != before
        assert (ablation.COMPANION / cut.file).read_text() == before


def test_what_is_left_without_each_mechanism_compiles(ablation: ModuleType, tmp_path: Path) -> None:
    compiled = partial(compiled_without, ablation, tmp_path)
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        assert [error for error in executor.map(compiled, enumerate(ablation.CUTS)) if error] == []


def compiled_without(ablation: ModuleType, tmp_path: Path, numbered: tuple[int, str]) -> str:
    """What the compiler says of the file with the mechanism of that name taken out."""
    number, name = numbered
    cut = ablation.CUTS[name]
    root = tmp_path / str(number)
    changed = shutil.copytree(ablation.COMPANION, root / "agents" / "companion") / cut.file
    changed.write_text(changed.read_text().replace(cut.old, cut.new))
    unit = root / "unit.cc"
    unit.write_text(f'#include "{changed}"\n')
    includes = (f"-I{root}", f"-I{ETC.parent}", "-isystem", str(ETC.parent / "third_party"))
    command = ["c++", "-std=c++20", "-fsyntax-only", *WARNINGS, *includes, str(unit)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_S)
    return ended.stderr if ended.returncode else ""


def test_a_mechanism_that_has_changed_is_named(ablation: ModuleType) -> None:
    with (
        pytest.raises(SystemExit, match="'gone' should stand there once"),
        ablation.without(ablation.Cut("companion.cc", "gone", "")),
    ):
        pass


def test_what_a_killed_process_left_changed_is_put_back(ablation: ModuleType) -> None:
    cut = ablation.CUTS["slow start"]
    before = {path: path.read_text() for path in ablation.COMPANION.iterdir()}
    killed = ablation.without(cut)
    killed.__enter__()
    assert (ablation.COMPANION / cut.file).read_text() != before[ablation.COMPANION / cut.file]
    ablation.restore()
    assert {path: path.read_text() for path in ablation.COMPANION.iterdir()} == before


def test_a_termination_leaves_source_and_core_as_they_were(
    ablation: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    cut = ablation.COMPANION / ablation.CUTS["slow start"].file
    whole = cut.read_text()

    def compile_core() -> None:
        compiled.append(cut.read_text() == whole)
        if not compiled[-1]:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(ablation, "compile_core", compile_core)
    monkeypatch.setattr(ablation, "measured", lambda *_: {"a": [1.0, 2.0]})
    monkeypatch.setattr(sys, "argv", ["ablation.py", "slow start"])
    before = signal.signal(signal.SIGTERM, lambda *_: None)  # else it would end the tests
    try:
        with pytest.raises(SystemExit):
            ablation.main()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert compiled == [True, False, True]
    assert cut.read_text() == whole
