"""The readers of files against a seeded corpus of broken ones: read, or refused in one line."""

import copy
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import yaml
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.logs.link_log import read_link_log
from ccgym.envs.logs.replay import Replay, replay_log
from ccgym.envs.specs.emulators import load_emulators
from ccgym.envs.specs.traces import read_trace

T = TypeVar("T")

MUTANTS = 400
TRACE = b"0\n1\n1\n4\n10\n"
LOG = (
    b"# mahimahi mm-link (Uplink) [one.tr] > u.log\n"
    b"# command line: 'mm-link' 'a' 'b' '--uplink-queue-args=packets=9,target=5,interval=100' '--' 'x'\n"
    b"# queue: codel [bytes=9000, packets=30]\n# init timestamp: 1795218406566\n# base timestamp: 36\n"
    b"# mahimahi config: [delay 20 ms] [link] \n"
    b"37 # 1504\n37 + 1504\n37 d 1 1504\n38 # 1504\n38 - 1504 1\n39 + 80\n40 # 1504\n40 - 80 1\n"
)
SPEC = (
    b"emulators:\n  - name: a\n    delay_ms: 20\n    nesting: [link, delay]\n"
    b"    uplink: {rate_mbps: 12, rate_steps: [{at_s: 1, rate_mbps: 2}], queue: pie, packets: 3,"
    b" qdelay_ref_ms: 5, max_burst_ms: 9}\n"
    b"    downlink: {arrivals: markov, rates_mbps: [1, 2], mean_stay_ms: 50}\n"
    b"    flows: [{scheme: copa, start_s: 1}, {}]\n    cross_traffic: [{kind: poisson, rate_mbps: 1}]\n"
)
WHOLE_SPEC = """emulators:
  - name: mine
    delay_ms: 10
    uplink: {rate_mbps: 5, arrivals: poisson, seed: 1, queue: droptail, packets: 30, bytes: 90000, loss: 0.01}
    downlink: {rate_mbps: 7, onoff: {mean_on_s: 2, mean_off_s: 0.2}}
    flows: [{scheme: copa}, {start_s: 0.1, extra_delay_ms: 3}]
  - name: moving
    delay_ms: 20
    timing: continuous
    delay_steps: [{at_s: 0.1, delay_ms: 30}]
    uplink: {rate_mbps: 12, rate_walk: {every_ms: 100, spread: 0.1, low_mbps: 3, high_mbps: 48}}
    cross_traffic: [{kind: onoff, rate_mbps: 3, mean_on_s: 1, mean_off_s: 2}]
  - name: marked
    delay_ms: 1
    uplink: {arrivals: markov, rates_mbps: [1, 2], mean_stay_ms: 50, queue: codel, packets: 3,
             target_ms: 5, interval_ms: 100}
    downlink: {rate_mbps: 3, queue: pie, packets: 9, qdelay_ref_ms: 5, max_burst_ms: 9}
"""
CASES = int(os.environ.get("CCGYM_ODD_SPECS", "400"))
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 3, 0.5, 1e-320, 1e-9, 1e9, 1e308, float("nan"), float("inf"), -float("inf"), 2**31,
    2**63, 2**64, 10**30, -(10**30), "", "a", "a" * 500, "-", "1", "1e-9", "nan", "~", "../x", "/dev/zero",
    "\x1b[31m", "a\nb", "\ud800", "💥", "<script>", "copa", "nothing", "droptail", "infinite", "pie",
    "markov", "mahimahi", [], {}, [[]], [None], [1, 2], {"a": 1}, {"at_s": 1}, [{}], [float("nan")],
    ["a"] * 999,
)  # fmt: skip
MOST_CHARACTERS = 300
PIECES = [
    b"-",
    b"-1",
    b"\n\n",
    b" ",
    b"\r",
    b"\x00",
    b"\xff\xfe",
    b"99999999999999999999",
    b"1e9",
    b"nan",
    b"'",
    b"#",
    b"[",
    b"{}",
    b"=",
    b"4294967295",
    b"d",
]


def mutants(seed: bytes) -> list[bytes]:
    """`seed` with bytes changed, cut, doubled, and pieces put in; always the same ones."""
    rng = np.random.default_rng(len(seed))
    return [_mutant(seed, rng) for _ in range(MUTANTS)]


def _mutant(seed: bytes, rng: np.random.Generator) -> bytes:
    text = seed
    for _ in range(int(rng.integers(1, 3))):
        first, last = sorted(rng.integers(0, len(text) + 1, 2).tolist())
        last = min(last, first + 12)
        piece = PIECES[int(rng.integers(len(PIECES)))]
        changes = [
            text[:first] + piece + text[first:],
            text[:first] + text[last:],
            text[:last] + text[first:last] + text[last:],
            text[:first] + rng.bytes(1) + text[first + 1 :],
        ]
        text = changes[int(rng.integers(len(changes)))]
    return text


def read_or_refused(read: Callable[[Path], T], path: Path, text: bytes) -> T | None:
    """What `read` makes of a file of this text; None: it refuses it in one line that names the file."""
    path.write_bytes(text)
    refusal = ""
    try:
        return read(path)
    except InputError as error:
        refusal = str(error)
    assert "\n" not in refusal, text
    assert len(refusal.replace(str(path), "")) <= MOST_CHARACTERS, text
    assert str(path.parent) in refusal or refusal.startswith("queue: "), text
    return None


def test_mutated_trace_files_are_read_or_refused(tmp_path: Path) -> None:
    read = [(text, read_or_refused(read_trace, tmp_path / "a.trace", text)) for text in mutants(TRACE)]
    taken = [(text, times_ms) for text, times_ms in read if times_ms is not None]
    assert MUTANTS / 10 < len(taken) < MUTANTS
    for text, times_ms in taken:
        assert _core.Schedule.trace(times_ms).opportunities_ms().tolist() == times_ms.tolist(), text


def test_mutated_link_logs_are_read_or_refused(tmp_path: Path) -> None:
    trace = tmp_path / "one.tr"
    trace.write_text("1\n")

    def replayed(path: Path) -> Replay:
        return replay_log(read_link_log(path), trace)

    read = [(text, read_or_refused(replayed, tmp_path / "u.log", text)) for text in mutants(LOG)]
    taken = [(text, result) for text, result in read if result is not None]
    assert MUTANTS / 10 < len(taken) < MUTANTS
    for text, result in taken:
        assert 0 <= result.mismatches <= result.arrivals + result.departures, text


def test_mutated_emulator_files_are_read_or_refused(tmp_path: Path) -> None:
    read = [read_or_refused(load_emulators, tmp_path / "mine.yaml", text) for text in mutants(SPEC)]
    taken = [spec for specs in read if specs is not None for spec in specs]
    assert 0 < len(taken) < MUTANTS
    for spec in taken:
        spec.to_path()


def places(content: Any) -> list[tuple[Any, Any]]:
    """Every place in a structure of mappings and lists: what holds it, and its key there."""
    keys = (
        content.keys()
        if isinstance(content, dict)
        else range(len(content) if isinstance(content, list) else 0)
    )
    return [place for key in keys for place in ((content, key), *places(content[key]))]


def test_odd_values_in_emulator_files_are_read_or_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(CASES)
    taken = 0
    for _ in range(CASES):
        content = yaml.safe_load(WHOLE_SPEC)
        for _ in range(int(rng.integers(1, 3))):
            holder, key = places(content)[int(rng.integers(len(places(content))))]
            value = copy.deepcopy(ODD[int(rng.integers(len(ODD)))])  # what is put into one stays there
            if isinstance(holder, dict) and rng.random() < 0.2:
                holder[value if isinstance(value, str | int | float) else "odd"] = holder.pop(key)
            else:
                holder[key] = value
        text = yaml.safe_dump(content).encode("utf-8", "surrogatepass")
        specs = read_or_refused(load_emulators, tmp_path / "mine.yaml", text)
        taken += specs is not None
        for spec in specs or ():
            with suppress(InputError):  # some of it is mahimahi's alone
                _core.simulate(spec.to_path(), "fixed:3", seconds=0.1, seed=1)
    assert 0 < taken < CASES


@pytest.mark.parametrize("seed", range(5))
def test_random_times_make_a_schedule_or_are_refused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(MUTANTS):
        most = int(rng.choice([1, 5, 2**32]))
        times_ms = rng.integers(0, most, int(rng.integers(0, 6))).astype(np.uint32)
        if rng.random() < 0.5:
            times_ms.sort()
        right = len(times_ms) > 0 and times_ms[-1] > 0 and bool(np.all(times_ms[1:] >= times_ms[:-1]))
        try:
            schedule = _core.Schedule.trace(times_ms)
        except ValueError:
            assert not right
            continue
        assert right
        assert schedule.period_ms == times_ms[-1]
