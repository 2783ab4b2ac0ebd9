"""The preference of an exported scheme: stored, set at the start of a flow, refused where there is none."""

import heapq
import socket
import time
from pathlib import Path

import pytest
import torch
from ccgym.agents.mlp import MlpPolicy
from ccgym.agents.policy_file import load_policy, save_policy
from ccgym.agents.policy_header import Limits, PolicySpec
from ccgym.cli.main import main
from ccgym.deploy.export import export_scheme
from ccgym.envs import _core
from ccgym.envs.errors import InputError

from . import wire_format as wire
from .endpoint_programs import running

FEATURES = len(_core.POLICY_FEATURES["scale_free"])
LEAST, INITIAL, MOST = 2, 10, 40
ACK_DELAY_S = 0.02
SETTLING, COUNTED = 100, 100
"""Packets: three changes of the window bring it to an end of its range; so many follow."""


@pytest.fixture
def preference_policy(tmp_path: Path) -> Path:
    """Halves its window at a low preference, leaves it at the default, doubles it at a high one."""
    module = MlpPolicy(FEATURES, [], 5)
    for parameter in module.parameters():
        torch.nn.init.zeros_(parameter)
    halve, stay, double, preference = 0, 2, 4, FEATURES - 1
    bias, weight = module.get_parameter("layers.0.bias"), module.get_parameter("layers.0.weight")
    with torch.no_grad():
        bias[halve], bias[stay], bias[double] = 0.5, 0.25, -0.5
        weight[halve, preference], weight[double, preference] = -1, 1
    spec = PolicySpec("scale_free", "indigo", initial_cwnd=INITIAL, limits=Limits(LEAST, MOST))
    file = tmp_path / "preference.safetensors"
    save_policy(file, module, spec, trained_on="nothing")
    return file


def most_in_flight(argv: list[str], sock: socket.socket) -> int:
    """What a sender keeps in flight at most once its window has settled, as its receiver sees it."""
    due: list[tuple[float, int]] = []
    most, acked, flow = 0, 0, 0
    sender: tuple[str, int] | None = None
    with running(argv) as sending:
        end_s = time.monotonic() + 120  # it hangs
        while acked < SETTLING + COUNTED and sending.poll() is None:
            now_s = time.monotonic()
            assert now_s < end_s
            while sender and due and due[0][0] <= now_s:
                acked += 1
                sock.sendto(wire.ack(flow, heapq.heappop(due)[1], time.monotonic_ns(), acked), sender)
            try:
                datagram, sender = sock.recvfrom(2000)
            except TimeoutError:
                continue
            kind, flow = wire.kind_and_flow(datagram)
            if kind == wire.HELLO:
                sock.sendto(wire.control(wire.HELLO_REPLY, flow), sender)
            elif kind == wire.DATA:
                heapq.heappush(due, (now_s + ACK_DELAY_S, wire.seq_of(datagram)))
                most = max(most, len(due)) if acked > SETTLING else 0
    return most


@pytest.mark.parametrize(
    ("stored", "at_start", "window"),
    [(None, [], INITIAL), (0.1, [], LEAST), (0.9, [], MOST), (0.9, ["0.1"], LEAST)],
)
def test_the_real_sender_runs_what_is_stored_unless_told_otherwise(
    tmp_path: Path, preference_policy: Path, stored: float | None, at_start: list[str], window: int
) -> None:
    (wrapper,) = export_scheme(preference_policy, "mine", out=tmp_path, pantheon=None, preference=stored)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(0.002)
        port = str(sock.getsockname()[1])
        seen = most_in_flight([str(wrapper), "sender", "127.0.0.1", port, *at_start], sock)
    assert window <= seen < 2 * window  # a busy host may be taken for a loss


def test_nothing_but_the_preference_is_changed(tmp_path: Path, preference_policy: Path) -> None:
    (wrapper,) = export_scheme(preference_policy, "mine", out=tmp_path, pantheon=None, preference=0.7)
    (module, spec), (exported, told) = (
        load_policy(preference_policy),
        load_policy(wrapper.parent / "policy.safetensors"),
    )
    assert (spec.preference, told.preference) == (None, 0.7)
    assert (told.trained_on, told.git, told.limits) == (spec.trained_on, spec.git, spec.limits)
    for name, tensor in module.state_dict().items():
        assert torch.equal(tensor, exported.state_dict()[name])


def test_a_policy_without_a_preference_has_none_to_set(tmp_path: Path, steady_policy: Path) -> None:
    with pytest.raises(InputError, match="this policy has no preference") as refusal:
        export_scheme(steady_policy, "mine", out=tmp_path, pantheon=None, preference=0.7)
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("preference", ["-0.1", "1.5", "nan", "high", ""])
def test_a_bad_preference_is_refused(
    tmp_path: Path, preference_policy: Path, preference: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(
            [
                "export",
                str(preference_policy),
                "--name",
                "mine",
                "--out",
                str(tmp_path),
                f"--preference={preference}",
            ]
        )
    assert end.value.code == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert "from 0, low delay, to 1, full throughput" in complaint
    assert not (tmp_path / "mine").exists()


def test_export_stores_the_preference_in_the_policy(
    tmp_path: Path, preference_policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "export",
                str(preference_policy),
                "--name",
                "mine",
                "--out",
                str(tmp_path),
                "--preference",
                "0.3",
            ]
        )
        == 0
    )
    assert capsys.readouterr().out == f"wrote {tmp_path}/mine/mine.py\n"
    assert load_policy(tmp_path / "mine" / "policy.safetensors")[1].preference == 0.3
