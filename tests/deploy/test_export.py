"""`ccgym export`: what it writes, what it replaces and what it refuses."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
import yaml
from ccgym.deploy import export
from ccgym.deploy.export import export_scheme
from ccgym.envs.errors import InputError

CONFIG = """\
# schemes under test
schemes:
  cubic:
    name: TCP Cubic
    color: black
    marker: '*'
  # verus:
  #   name: Verus
  indigo:   # the original
    name: Indigo
    color: indigo
    marker: 'D'

# what follows stays
other: [1, 2]
"""


@pytest.fixture
def pantheon(tmp_path: Path) -> Path:
    root = tmp_path / "pantheon"
    (root / "src" / "wrappers").mkdir(parents=True)
    (root / "third_party" / "indigo").mkdir(parents=True)
    (root / "src" / "config.yml").write_text(CONFIG)
    (root / "src" / "wrappers" / "indigo.py").write_text("#!/usr/bin/env python\n")
    return root


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_run_directory_gives_its_best_policy(tmp_path: Path, steady_policy: Path) -> None:
    best = tmp_path / "run" / "best"
    best.mkdir(parents=True)
    (best / "policy.safetensors").write_bytes(steady_policy.read_bytes())
    wrapper = export_scheme(tmp_path / "run", "mine", out=tmp_path, pantheon=None)[0]
    assert wrapper == tmp_path / "mine" / "mine.py"
    assert (tmp_path / "mine" / "policy.safetensors").read_bytes() == steady_policy.read_bytes()


def test_every_user_may_run_an_export(tmp_path: Path, steady_policy: Path) -> None:
    before = os.umask(0o077)
    try:
        folder = export_scheme(steady_policy, "mine", out=tmp_path, pantheon=None)[0].parent
    finally:
        os.umask(before)
    modes = {str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert modes.pop("policy.safetensors") == 0o644
    assert set(modes.values()) == {0o755}


def test_a_second_export_replaces_the_first(tmp_path: Path, steady_policy: Path) -> None:
    target = export_scheme(steady_policy, "mine", out=tmp_path, pantheon=None)[0].parent
    (target / "leftover").write_text("of the first")
    export_scheme(steady_policy, "mine", out=tmp_path, pantheon=None)
    assert not (target / "leftover").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "steady.safetensors"]


def test_a_foreign_folder_stays(tmp_path: Path, steady_policy: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.py").write_text("precious")
    before = tree(tmp_path)
    with pytest.raises(InputError, match="choose another --name"):
        export_scheme(steady_policy, "mine", out=tmp_path, pantheon=None)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["", "a b", "../x", "a-b", "a.py", "naïve", "a\n"])
def test_a_bad_name_is_refused(tmp_path: Path, steady_policy: Path, name: str) -> None:
    with pytest.raises(InputError, match="letters, digits and underscores"):
        export_scheme(steady_policy, name, out=tmp_path, pantheon=None)


def test_a_broken_policy_leaves_nothing(tmp_path: Path, steady_policy: Path, pantheon: Path) -> None:
    steady_policy.write_bytes(steady_policy.read_bytes()[:-8])
    before = tree(tmp_path)
    with pytest.raises(InputError, match=str(steady_policy)) as refusal:
        export_scheme(steady_policy, "mine", out=tmp_path, pantheon=pantheon)
    assert "\n" not in str(refusal.value)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("run", ["nowhere", "."])
def test_a_run_without_a_policy_is_refused(tmp_path: Path, run: str) -> None:
    with pytest.raises(InputError, match="policy"):
        export_scheme(tmp_path / run, "mine", out=tmp_path, pantheon=None)


def test_a_missing_folder_is_refused(tmp_path: Path, steady_policy: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        export_scheme(steady_policy, "mine", out=tmp_path / "none", pantheon=None)


def test_a_scheme_is_added_to_pantheon(pantheon: Path, steady_policy: Path) -> None:
    wrapper = export_scheme(steady_policy, "my_indigo", out=None, pantheon=pantheon)[0]
    assert wrapper == pantheon / "src" / "wrappers" / "my_indigo.py"
    assert os.access(wrapper, os.X_OK)
    assert (pantheon / "third_party" / "my_indigo" / "bin" / "ccgym-sender").is_file()
    text = (pantheon / "src" / "config.yml").read_text()
    schemes = yaml.safe_load(text)["schemes"]
    assert list(schemes) == ["cubic", "indigo", "my_indigo"]
    assert set(schemes["my_indigo"]) == {"name", "color", "marker"}
    entry = text[text.index("  my_indigo:") : text.index("\n# what follows")]
    assert text.replace(entry, "") == CONFIG


def test_the_installed_wrapper_finds_its_programs(pantheon: Path, steady_policy: Path) -> None:
    wrapper = export_scheme(steady_policy, "my_indigo", out=None, pantheon=pantheon)[0]
    done = subprocess.run([wrapper, "setup"], capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_two_schemes_get_two_colours(pantheon: Path, steady_policy: Path) -> None:
    for name in ("first", "second", "yes", "007"):
        export_scheme(steady_policy, name, out=None, pantheon=pantheon)
    schemes = yaml.safe_load((pantheon / "src" / "config.yml").read_text())["schemes"]
    assert list(schemes) == ["cubic", "indigo", "first", "second", "yes", "007"]
    assert len({scheme["color"] for scheme in schemes.values()}) == 6


def test_our_own_scheme_is_replaced_in_pantheon(pantheon: Path, steady_policy: Path) -> None:
    export_scheme(steady_policy, "my_indigo", out=None, pantheon=pantheon)
    config = (pantheon / "src" / "config.yml").read_bytes()
    (pantheon / "third_party" / "my_indigo" / "leftover").write_text("of the first")
    export_scheme(steady_policy, "my_indigo", out=None, pantheon=pantheon)
    assert (pantheon / "src" / "config.yml").read_bytes() == config
    assert not (pantheon / "third_party" / "my_indigo" / "leftover").exists()


@pytest.mark.parametrize("name", ["indigo", "cubic"])
def test_pantheons_own_schemes_stay(pantheon: Path, steady_policy: Path, name: str) -> None:
    before = tree(pantheon)
    with pytest.raises(InputError, match="not ccgym's"):
        export_scheme(steady_policy, name, out=None, pantheon=pantheon)
    assert tree(pantheon) == before


@pytest.mark.parametrize(
    "config", ["schemes: {cubic: {name: x}}\n", "schemes:\n", "x: 1\n", "a: [\n", "- 1\n"]
)
def test_a_config_that_cannot_be_extended_is_refused(
    pantheon: Path, steady_policy: Path, config: str
) -> None:
    (pantheon / "src" / "config.yml").write_text(config)
    before = tree(pantheon)
    with pytest.raises(InputError, match=r"config\.yml"):
        export_scheme(steady_policy, "my_indigo", out=None, pantheon=pantheon)
    assert tree(pantheon) == before


@pytest.mark.parametrize("config", ["schemes:\n  a:\n    name: x", "schemes:\r\n  a:\r\n    name: x\r\n"])
def test_line_ends_are_kept(pantheon: Path, steady_policy: Path, config: str) -> None:
    file = pantheon / "src" / "config.yml"
    file.write_bytes(config.encode())
    export_scheme(steady_policy, "my_indigo", out=None, pantheon=pantheon)
    written = file.read_bytes()
    assert written.startswith(config.encode())
    assert written.count(b"\r\n") in (0, written.count(b"\n"))
    assert list(yaml.safe_load(written)["schemes"]) == ["a", "my_indigo"]


def test_what_is_no_checkout_is_refused(tmp_path: Path, steady_policy: Path) -> None:
    with pytest.raises(InputError, match="no Pantheon checkout"):
        export_scheme(steady_policy, "my_indigo", out=None, pantheon=tmp_path)


def test_a_failure_half_way_puts_everything_back(
    pantheon: Path, steady_policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_scheme(steady_policy, "my_indigo", out=None, pantheon=pantheon)
    config = pantheon / "src" / "config.yml"
    config.write_text(CONFIG)  # so that a third move is due, which fails
    before = tree(pantheon)
    rename = Path.rename

    def failing_rename(self: Path, target: Path) -> Path:
        if Path(target) == config:
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing_rename)
    with pytest.raises(OSError, match="No space left"):
        export_scheme(steady_policy, "my_indigo", out=None, pantheon=pantheon)
    assert tree(pantheon) == before


def test_missing_programs_are_named(
    tmp_path: Path, steady_policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PROGRAM_FOLDER", tmp_path)
    with pytest.raises(InputError, match="ccgym-sender is missing"):
        export_scheme(steady_policy, "mine", out=tmp_path, pantheon=None)


def test_a_place_where_nobody_can_write_is_told(steady_policy: Path) -> None:
    with pytest.raises(InputError, match=r"/proc/mine: may not be written: No such file or directory"):
        export_scheme(steady_policy, "mine", out=Path("/proc"), pantheon=None)
