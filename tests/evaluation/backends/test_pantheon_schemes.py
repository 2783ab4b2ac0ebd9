"""Schemes of a Pantheon checkout take part: their wrappers run as they are, whichever side is first."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.envs.errors import InputError
from ccgym.evaluation.backends import programs
from ccgym.evaluation.backends.programs import run_first
from ccgym.evaluation.run_files import read_merged_log
from ccgym.evaluation.schemes import Kind, select_schemes
from ccgym.tests.processes import all_processes, command_of, wait_until

from .fake_pantheon import make_checkout

EMULATORS = """emulators:
- name: up
  delay_ms: 10
  uplink: {rate_mbps: 12, queue: droptail, packets: 60}
  downlink: {rate_mbps: 6}
"""


@pytest.fixture
def checkout(open_folder: Path) -> Path:
    return make_checkout(open_folder / "pantheon")


def test_wrappers_are_asked_who_is_first(checkout: Path) -> None:
    window, upside_down = select_schemes("pantheon:window,pantheon:upside_down", checkout)
    assert (window.label, window.kind) == ("pantheon-window", Kind.PANTHEON)
    assert (run_first(window.controller), run_first(upside_down.controller)) == ("receiver", "sender")


def test_mistakes_are_one_line(checkout: Path, tmp_path: Path) -> None:
    for selection, root, wrong in (
        ("pantheon:window", None, "expected pantheon:NAME and the checkout it is of, --pantheon DIR"),
        ("pantheon", checkout, "expected pantheon:NAME"),
        ("pantheon:nonsense", checkout, "no src/wrappers/nonsense.py; it has window, upside_down, deserted"),
        ("pantheon:window", tmp_path, "is no Pantheon checkout"),
        ("cubic,reno+copa", checkout, "--pantheon: no scheme is pantheon:NAME"),
    ):
        with pytest.raises(InputError, match=wrong):
            select_schemes(selection, root)
    (mute,) = select_schemes("pantheon:mute", checkout)
    with pytest.raises(InputError, match="expected 'sender' or 'receiver' on its output: exit code 3"):
        run_first(mute.controller)


def test_they_run_beside_ours_in_real_mahimahi(
    checkout: Path, tmp_path: Path, write_policy: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    policy = write_policy(tmp_path / "policy.safetensors")
    assert main(["export", str(policy), "--pantheon", str(checkout), "--name", "my_indigo"]) == 0
    capsys.readouterr()
    (tmp_path / "up.yaml").write_text(EMULATORS)
    schemes = "pantheon:window,pantheon:upside_down,pantheon:my_indigo"
    argv = ["eval", "--schemes", schemes, "--pantheon", str(checkout), "--backend", "mahimahi"]
    where = ["--emulators", f"file:{tmp_path / 'up.yaml'}", "--out", str(tmp_path / "out")]
    assert main([*argv, *where, "--seconds", "1", "--json"]) == 0
    entries = {row["scheme"]: row for row in json.loads(capsys.readouterr().out)["scenarios"][0]["schemes"]}
    assert set(entries) == {"pantheon-window", "pantheon-upside_down", "pantheon-my_indigo"}
    # All data take the direction of 12 Mbit/s, whoever listens: 40 packets fill it over 20 ms.
    for scheme in ("pantheon-window", "pantheon-upside_down"):
        assert 0 < entries[scheme]["throughput_mbps"] < 12.2, scheme


def test_a_failure_tells_why_the_other_end_has_gone(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "up.yaml").write_text(EMULATORS)
    argv = ["eval", "--schemes", "pantheon:deserted", "--pantheon", str(checkout), "--backend", "mahimahi"]
    where = ["--emulators", f"file:{tmp_path / 'up.yaml'}", "--out", str(tmp_path / "out")]
    assert main([*argv, *where, "--seconds", "5"]) == 1
    said = "pantheon-deserted failed: nobody answers; its listener has ended with 4: had enough"
    assert said in capsys.readouterr().err


def test_in_tunnels_any_of_them_share_a_link(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "up.yaml").write_text(EMULATORS)
    argv = ["eval", "--schemes", "pantheon:upside_down+pantheon:window+kernel-reno", "--tunnel"]
    where = ["--emulators", f"file:{tmp_path / 'up.yaml'}", "--out", str(tmp_path / "out")]
    real = ["--pantheon", str(checkout), "--backend", "mahimahi", "--seconds", "2", "--json"]
    assert main([*argv, *where, *real]) == 0
    *flows, together = json.loads(capsys.readouterr().out)["scenarios"][0]["schemes"]
    assert {flow["flow_scheme"] for flow in flows} == {
        "pantheon-upside_down",
        "pantheon-window",
        "kernel-reno",
    }
    # Data take 12 Mbit/s, not the 6 of the way back.
    assert 0 < together["throughput_mbps"] < 12.2
    assert min(flow["mean_delay_ms"] for flow in flows) >= 10
    (ack_log,) = (tmp_path / "out" / "data").rglob("*[!m]_acklink_run1.log")
    acks = read_merged_log(ack_log).flows
    assert list(acks) == [1, 2, 3]
    assert min(log.departure_delay_ms.min() for log in acks.values()) >= 9


def test_with_others_a_sender_that_listens_needs_a_tunnel(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["eval", "--schemes", "pantheon:upside_down+copa", "--pantheon", str(checkout)]
    assert main([*argv, "--emulators", "field", "--backend", "mahimahi", "--out", str(tmp_path / "out")]) == 2
    assert "pantheon-upside_down begins with its sender" in capsys.readouterr().err


def own_wrapper(folder: Path, script: str) -> str:
    """A wrapper of somebody else's, where every user may run it."""
    wrapper = folder / "other.py"
    wrapper.write_text(f"#!/bin/sh\n{script}\n")
    wrapper.chmod(0o755)
    return str(wrapper)


def test_a_wrapper_that_does_not_answer_is_ended_with_what_it_has_started(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "WRAPPER_ANSWER_S", 1.0)
    with pytest.raises(InputError, match=r"other.py run_first: no answer within 1 s$"):
        run_first(own_wrapper(open_folder, "sleep 4321; true"))
    wait_until(
        lambda: not any(command_of(pid).startswith("sleep 4321 ") for pid in all_processes()),
        "what it has started ends",
    )


def test_what_is_no_text_is_no_answer(open_folder: Path) -> None:
    wrapper = own_wrapper(open_folder, r"printf '\377'; printf 'why\377' >&2")
    with pytest.raises(InputError, match=r"expected 'sender' or 'receiver' on its output: why"):
        run_first(wrapper)
