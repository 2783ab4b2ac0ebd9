"""Names of schemes and what runs under them."""

import platform
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from ccgym.envs.errors import InputError
from ccgym.evaluation.schemes import Kind, Scheme, known_schemes, select_schemes

from .test_python_schemes import AIMD


def test_every_kind_is_listed() -> None:
    kinds = {scheme.name: scheme.kind for scheme in known_schemes()}
    assert kinds["copa"] is Kind.NATIVE
    assert kinds["aurora"] is kinds["indigo"] is kinds["policy"] is kinds["run"] is Kind.POLICY
    assert kinds["kernel-bbr"] is kinds["kernel-cubic"] is kinds["kernel-reno"] is Kind.KERNEL


def test_native_and_kernel_schemes() -> None:
    assert select_schemes("copa, fixed:40,kernel-bbr") == [
        Scheme("copa", Kind.NATIVE, "copa"),
        Scheme("fixed:40", Kind.NATIVE, "fixed:40"),
        Scheme("kernel-bbr", Kind.KERNEL, "bbr"),
    ]


def test_policy_file_and_training_run(tmp_path: Path, write_policy: Callable[..., Path]) -> None:
    file = write_policy(tmp_path / "my run" / "best" / "policy.safetensors")
    by_file, by_run = select_schemes(f"policy:{file},run:{tmp_path / 'my run'}")
    assert (by_file.label, by_run.label) == ("policy", "my-run")
    assert by_file.policy_file == by_run.policy_file == file
    assert by_file.fingerprint() == by_run.fingerprint()


def test_a_plus_sign_makes_a_mix(tmp_path: Path, write_policy: Callable[..., Path]) -> None:
    file = write_policy(tmp_path / "a+b.safetensors")
    mix, alone = select_schemes(f"copa+policy:{file}+fixed:40,policy:{file}")
    assert (mix.label, mix.kind, alone.label) == ("copa+a+b+fixed-40", Kind.MIX, "a+b")
    assert [member.label for member in mix.members] == ["copa", "a+b", "fixed-40"]
    assert alone.fingerprint() in mix.fingerprint()


@pytest.mark.parametrize(
    ("selection", "flows", "line_up"),
    [
        ("copa", 1, ["copa"]),
        ("copa", 3, ["copa", "copa", "copa"]),
        ("copa+reno", 1, ["copa", "reno"]),
        ("copa+reno", 3, ["copa", "reno", "copa"]),
    ],
)
def test_members_of_a_mix_take_turns(selection: str, flows: int, line_up: list[str]) -> None:
    (scheme,) = select_schemes(selection)
    assert [flow.label for flow in scheme.line_up(flows)] == line_up


def test_fingerprint_follows_the_policy(tmp_path: Path, write_policy: Callable[..., Path]) -> None:
    file = write_policy(tmp_path / "a.safetensors", seed=1)
    (before,) = select_schemes(f"policy:{file}")
    first = before.fingerprint()
    write_policy(file, seed=2)
    assert before.fingerprint() != first


@pytest.mark.parametrize(
    ("selection", "wrong"),
    [
        ("nonsense", "unknown scheme 'nonsense'; known: .*copa.*see .ccgym schemes"),
        ("", "unknown scheme ''; known: "),
        ("indgo2", "unknown scheme 'indgo2', did you mean indigo2"),
        ("fixed:1e8", r"fixed: cwnd_packets is 1e.08, should be from 1 to 1e.06"),
        ("copa,", "unknown scheme ''; known: "),
        ("copa+nonsense", "unknown scheme 'copa.nonsense'"),
        ("copa+", "unknown scheme 'copa.'"),
        ("copa,copa", "two schemes are called 'copa'"),
        ("fixed:many", "argument 'many' is not a window in packets"),
        ("kernel-bbr:2", "kernel-bbr takes no argument"),
        ("indigo:0.7", "this policy has no preference"),
        ("indigo2:7", "preference is 7.0*, should be from 0, low delay, to 1, full throughput"),
        ("indigo2:fast", "indigo2 takes a preference from 0 to 1, as in indigo2:0.7"),
        ("policy", "expected policy:FILE or run:DIR"),
        ("policy:/nowhere/x.safetensors", "no policy file /nowhere/x.safetensors"),
        ("run:/nowhere", "no policy file /nowhere/best/policy.safetensors"),
        ("fixed:5,python:{folder}/mine.py:Aimd_mm", "a label that ends in _mm is that of mm-link's own logs"),
    ],
)
def test_mistakes_are_one_line(selection: str, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(AIMD.replace("Aimd", "Aimd_mm"))
    with pytest.raises(InputError, match=wrong) as error:
        select_schemes(selection.format(folder=tmp_path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("file", "path", "scheme"),
    [
        ("mine/policy.safetensors", "mine", "policy:mine/policy.safetensors"),
        ("runs/a/best/policy.safetensors", "runs/a", "run:runs/a"),
        ("mine.safetensors", "mine.safetensors", "policy:mine.safetensors"),
        ("aimd.py", "aimd.py", "python:aimd.py:CLASS"),
        ("build/aimd.so", "build/aimd.so", "so:build/aimd.so"),
    ],
)
def test_a_path_alone_is_told_how_schemes_are_written(
    file: str, path: str, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).touch()
    with pytest.raises(InputError, match=rf"unknown scheme '{path}', write {scheme}; known: "):
        select_schemes(path)


def test_broken_policy_is_refused(tmp_path: Path, write_policy: Callable[..., Path]) -> None:
    file = write_policy(tmp_path / "a.safetensors")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"a\.safetensors"):
        select_schemes(f"policy:{file}")


def test_the_preference_follows_the_last_colon() -> None:
    calm, eager, plain = select_schemes("indigo2:0.2,indigo2:0.9,indigo2")
    assert [scheme.label for scheme in (calm, eager, plain)] == ["indigo2-0.2", "indigo2-0.9", "indigo2"]
    assert calm.policy_file == eager.policy_file == plain.policy_file
    assert calm.controller_with("copy.safetensors") == "policy:copy.safetensors:0.2"
    assert len({scheme.fingerprint() for scheme in (calm, eager, plain)}) == 3


def test_a_fingerprint_names_the_code_that_runs() -> None:
    copa, kernel, policy = select_schemes("copa,kernel-bbr,indigo2")
    code = copa.fingerprint().split(" of ")[1]
    assert re.fullmatch(r"ccgym sha256:[0-9a-f]{64}", code)
    assert policy.fingerprint().endswith(code)
    assert kernel.fingerprint() == f"bbr of {platform.system()} {platform.release()}"


def test_a_broken_policy_that_comes_along_does_not_vanish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "indigo.safetensors"
    broken.write_bytes(b"none")
    monkeypatch.setattr("ccgym.evaluation.schemes.policy_path", lambda name: broken)
    with pytest.raises(InputError, match=r"indigo\.safetensors"):
        select_schemes("all")


def test_a_label_too_long_for_a_file_name_is_refused(
    tmp_path: Path, write_policy: Callable[..., Path]
) -> None:
    policy = write_policy(tmp_path / "policy.safetensors").rename(tmp_path / f"{'b' * 240}.safetensors")
    with pytest.raises(InputError, match="has more than 200 bytes, too long for the names of its logs"):
        select_schemes(f"policy:{policy}")


def test_a_training_that_only_runs_in_python_is_no_scheme(tmp_path: Path) -> None:
    (tmp_path / "best").mkdir()
    (tmp_path / "best" / "network.pt").touch()
    with pytest.raises(InputError, match="what it trained only runs in Python"):
        select_schemes(f"run:{tmp_path}")
