"""Controllers in Python, from a folder that is not ours."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.python_controllers import make_controller
from ccgym.evaluation.schemes import select_native, select_schemes

AIMD = """class Aimd:
    def __init__(self, packet_bytes):
        self.cwnd_packets, self.pacing_mbps = 10.0, None
    def on_ack(self, now_ms, ack):
        self.cwnd_packets += len(ack.acked) / self.cwnd_packets
        if ack.lost:
            self.cwnd_packets = max(2.0, self.cwnd_packets / 2)
    def on_timeout(self, now_ms, timeout):
        self.cwnd_packets = 2.0
"""


def run(controller: str, seconds: float = 10) -> _core.FlowRecord:
    link = _core.Link(_core.Schedule.constant(12))
    return _core.simulate(_core.Path(10, link, link), controller, seconds=seconds, seed=1)


LISTENER = """class Aimd:
    def __init__(self, packet_bytes):
        self.cwnd_packets, self.pacing_mbps, self.next_timer_ms, self.holds_back = 10.0, None, None, False
        self.rtts, self.delivered_bytes, self.declared_lost_bytes, self.next_seq = (0, 0, 0), 0, 0, 0
        self.inflight_bytes = 0
        self.heard = dict.fromkeys(("timers", "timeouts", "app_limited_losses"), 0)

    def on_ack(self, now_ms, ack):
        self.rtts = self.rtts_of(ack)
        self.delivered_bytes, self.declared_lost_bytes = ack.delivered_bytes, ack.declared_lost_bytes
        self.inflight_bytes = ack.inflight_bytes
        self.cwnd_packets += 0.001 * ack.rate_app_limited
        for packet in ack.lost:
            self.cwnd_packets += 0.01 * packet.app_limited
            self.heard["app_limited_losses"] += packet.app_limited
        self.cwnd_packets += len(ack.acked) / self.cwnd_packets
        if ack.lost:
            self.cwnd_packets = max(2.0, self.cwnd_packets / 2)

    def on_timeout(self, now_ms, timeout):
        self.declared_lost_bytes += sum(packet.bytes for packet in timeout.lost)
        told = timeout.delivered_bytes, timeout.declared_lost_bytes, timeout.next_seq
        assert told == (self.delivered_bytes, self.declared_lost_bytes, self.next_seq)
        self.cwnd_packets = (
            2.0 + 0.01 * len(timeout.lost) + 1e-9 * timeout.delivered_bytes
            + 1e-8 * timeout.declared_lost_bytes + 1e-6 * timeout.next_seq + self.hear(timeout)
        )
        self.heard["timeouts"] += 1
        self.inflight_bytes = 0

    def on_sent(self, now_ms, packet):
        assert packet.smoothed_rtt_ms == self.rtts[1]
        self.inflight_bytes = packet.inflight_bytes
        self.next_seq = packet.seq + 1
        self.cwnd_packets += 1e-7 * packet.smoothed_rtt_ms
        if self.next_timer_ms is None:
            self.next_timer_ms = now_ms + 50.0

    def on_timer(self, now_ms, timer):
        assert timer.inflight_bytes == self.inflight_bytes
        self.cwnd_packets += self.hear(timer) + 1e-8 * timer.inflight_bytes
        self.next_timer_ms, self.holds_back = None, not self.holds_back
        self.heard["timers"] += 1

    def hear(self, told):
        assert self.rtts_of(told) == self.rtts
        return 1e-6 * (told.rtt_ms + 2.0 * told.smoothed_rtt_ms + 4.0 * told.min_rtt_ms)

    def rtts_of(self, told):
        return told.rtt_ms, told.smoothed_rtt_ms, told.min_rtt_ms

    def metrics(self):
        return self.heard
"""
"""What it hears moves its window, and is what its ACKs have told before."""


def run_through_silence(controller: str) -> _core.FlowRecord:
    """Over a link that loses packets and is out for seconds, for an application that pauses."""
    link = _core.Link(_core.Schedule.constant(12), loss=0.02, mean_on_ms=1500, mean_off_ms=1500)
    flow = _core.Flow(controller, mean_on_s=0.5, mean_off_s=0.2)
    (record,) = _core.simulate(_core.Path(10, link, link), [flow], seconds=30, seed=1)
    return record


def write(folder: Path, source: str) -> str:
    (folder / "aimd.py").write_text(source)
    return f"python:{folder}/aimd.py:Aimd"


def test_fills_a_link_the_same_each_time(tmp_path: Path) -> None:
    record, again = (run(select_native(write(tmp_path, AIMD))) for _ in range(2))
    assert record.delivered_packets > 0.9 * record.opportunities
    assert list(record.departure_ms) == list(again.departure_ms)


def test_every_callback_tells_what_the_last_ack_told(tmp_path: Path) -> None:
    record = run_through_silence(select_native(write(tmp_path, LISTENER)))
    assert {name for name, (_, values) in record.metrics.items() if values[-1] > 0} == {
        "timers",
        "timeouts",
        "app_limited_losses",
    }


@pytest.mark.parametrize("holds_back", [True, False])
def test_a_controller_that_holds_back_makes_its_rate_samples_app_limited(
    tmp_path: Path, holds_back: bool
) -> None:
    source = AIMD.replace("10.0, None", f"10.0, None; self.holds_back, self.limited = {holds_back}, 0")
    counting = "def on_ack(self, now_ms, ack):\n        self.limited += ack.rate_app_limited"
    source = source.replace("def on_ack(self, now_ms, ack):", counting)
    source += "    def metrics(self):\n        return {'limited': self.limited}\n"
    record = run(select_native(write(tmp_path, source)))
    assert (record.metrics["limited"][1][-1] > 0.9 * record.delivered_packets) == holds_back


def test_a_time_out_cannot_be_read_after_its_callback(tmp_path: Path) -> None:
    keeping = LISTENER.replace("assert told ==", "self.kept = timeout; assert told ==").replace(
        "def on_timer(self, now_ms, timer):",
        "def on_timer(self, now_ms, timer):\n        if hasattr(self, 'kept'): self.kept.next_seq",
    )
    with pytest.raises(RuntimeError, match="an event can be read during its callback only"):
        run_through_silence(select_native(write(tmp_path, keeping)))


def test_a_class_for_what_callbacks_once_told_goes_on_or_is_told_in_a_line(tmp_path: Path) -> None:
    former = AIMD.replace("now_ms, timeout", "now_ms, lost")
    assert run_through_silence(select_native(write(tmp_path, former))).delivered_packets > 0
    reading = former.replace("self.cwnd_packets = 2.0", "self.cwnd_packets = 2.0 + len(lost)")
    with pytest.raises(
        RuntimeError, match="on_timeout raised TypeError: object of type 'Timeout' has no len"
    ):
        run_through_silence(select_native(write(tmp_path, reading)))
    with pytest.raises(InputError, match=r"on_timer\(now_ms\) is called as on_timer\(now_ms, timer\)"):
        select_native(write(tmp_path, AIMD + "    def on_timer(self, now_ms): pass\n"))


def test_runs_in_two_threads_at_once(tmp_path: Path) -> None:
    scheme = write(tmp_path, AIMD)
    with ThreadPoolExecutor(2) as executor:
        first, second = executor.map(run, [scheme, scheme])
    assert first.delivered_packets == second.delivered_packets


def test_an_exception_ends_its_run_with_the_cause(tmp_path: Path) -> None:
    scheme = write(tmp_path, AIMD.replace("if ack.lost:", "if 1 / 0:"))
    with pytest.raises(RuntimeError, match="on_ack raised ZeroDivisionError") as raised:
        run(scheme)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        (
            "self.cwnd_packets, self.pacing_mbps = 10.0, None",
            "1 / 0",
            "its constructor raised ZeroDivisionError",
        ),
        (
            "self.cwnd_packets, self.pacing_mbps = 10.0, None",
            "raise SystemExit",
            "its constructor raised SystemExit",
        ),
        (
            "def on_timeout(self, now_ms, timeout)",
            "@property\n    def cwnd_packets(self)",
            "its constructor raised",
        ),
        (
            "def on_timeout(self, now_ms, timeout):",
            "@property\n    def next_timer_ms(self): 1 / 0\n    def on_timeout(self, now_ms, timeout):",
            "one of its attributes raised ZeroDivisionError",
        ),
    ],
)
def test_what_raises_before_its_first_run_is_named_with_its_place(
    tmp_path: Path, before: str, after: str, complaint: str
) -> None:
    scheme = write(tmp_path, AIMD.replace(before, after, 1))
    with pytest.raises(InputError) as refused:
        make_controller(scheme.removeprefix("python:"), 1448)
    assert str(refused.value).startswith(f"{scheme}: {complaint}")
    assert "(aimd.py, line " in str(refused.value)


@pytest.mark.parametrize("window", ["float('nan')", "-1.0", "float('inf')"])
def test_a_window_that_is_none_names_the_class(tmp_path: Path, window: str) -> None:
    scheme = write(
        tmp_path, AIMD.replace("max(2.0, self.cwnd_packets / 2)", "2.0").replace("= 10.0,", f"= {window},")
    )
    with pytest.raises(RuntimeError, match=r"aimd\.py:Aimd: cwnd_packets is"):
        run(scheme)


def test_what_a_callback_returns_is_not_overlooked(tmp_path: Path) -> None:
    scheme = write(tmp_path, AIMD.replace("if ack.lost:", "if True: return 100\n        if ack.lost:"))
    with pytest.raises(RuntimeError, match="on_ack returns something of type int: it should set"):
        run(scheme)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "has no Aimd"),
        ("class Aimd:\n    def __init__(self, packet_bytes):\n        raise KeyError('x')\n", "KeyError"),
        (AIMD.replace("on_ack", "on_nack"), "no method on_ack"),
        (AIMD.replace("on_timeout", "on_loss"), "on_loss is never called: losses come in ack.lost of on_ack"),
        (AIMD.replace("= 10.0,", "= None,"), "cwnd_packets is of type NoneType, expected a number"),
        (AIMD.replace("= 10.0,", "= 10**400,"), "cwnd_packets is too large, expected a number"),
        (AIMD.replace("= 10.0, None", "= 10.0, None; self.next_timer_ms = 5"), "has no on_timer"),
        (
            AIMD.replace("if ack.lost:", "self.holds_back = True\n        if ack.lost:"),
            "sets no attribute holds_back",
        ),
    ],
)
def test_what_is_no_controller_is_refused(tmp_path: Path, source: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        select_schemes(write(tmp_path, source))
    with pytest.raises(InputError, match="cannot read the controller"):
        select_schemes(f"python:{tmp_path}/none.py:Aimd")


def test_a_base_class_may_call_what_its_children_define(tmp_path: Path) -> None:
    child = "\n\nclass Gentle(Aimd):\n    def on_loss(self):\n        self.cwnd_packets -= 1\n"
    calling = AIMD.replace("self.cwnd_packets = max(2.0, self.cwnd_packets / 2)", "self.on_loss()")
    scheme = write(tmp_path, calling + child).replace("Aimd", "Gentle")
    assert isinstance(make_controller(scheme.removeprefix("python:"), 1448), object)
    write(tmp_path, AIMD + child)
    with pytest.raises(InputError, match="on_loss is never called"):
        make_controller(scheme.removeprefix("python:"), 1448)


def test_a_module_is_found_in_the_folder_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_controllers").mkdir()
    (tmp_path / "my_controllers" / "aimd.py").write_text(AIMD)
    monkeypatch.chdir(tmp_path)
    (scheme,) = select_schemes("python:my_controllers.aimd:Aimd")
    assert scheme.outside_file == tmp_path / "my_controllers" / "aimd.py"
    with pytest.raises(InputError, match="No module named 'nowhere'"):
        select_schemes("python:nowhere.aimd:Aimd")


def test_a_file_imports_modules_of_the_folder_one_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = "ours_" + tmp_path.name.strip("_")
    (tmp_path / f"{beside}.py").write_text("START = 10.0\n")
    scheme = write(tmp_path, f"import {beside}\n" + AIMD.replace("10.0", f"{beside}.START"))
    with pytest.raises(InputError, match=f"No module named '{beside}'; it is looked for here and"):
        select_schemes(scheme)
    monkeypatch.chdir(tmp_path)
    assert select_schemes(scheme)


def test_a_method_of_ones_own_may_be_named_as_it_likes(tmp_path: Path) -> None:
    halves = (
        "def on_loss(self):\n        self.cwnd_packets = max(2.0, self.cwnd_packets / 2)\n    def on_timeout"
    )
    source = AIMD.replace("    self.cwnd_packets = max(2.0, self.cwnd_packets / 2)", "    self.on_loss()")
    scheme = select_native(write(tmp_path, source.replace("def on_timeout", halves)))
    assert run(scheme).delivered_packets == run(select_native(write(tmp_path, AIMD))).delivered_packets


def test_selecting_a_python_scheme_does_not_import_it_in_this_process(tmp_path: Path) -> None:
    scheme = write(tmp_path, f"import sys\nsys.here = 1\n{AIMD}")
    select_schemes(scheme)
    assert not hasattr(sys, "here")
    with pytest.raises(InputError, match="crashed: exit code 0"):
        select_schemes(write(tmp_path, "import os\nos._exit(0)"))


def test_half_a_character_in_an_exception_is_escaped(tmp_path: Path) -> None:
    raising = "raise ValueError('a\\udcffb')\n        if ack.lost:"
    scheme = write(tmp_path, AIMD.replace("if ack.lost:", raising))
    with pytest.raises(RuntimeError, match=r"on_ack raised ValueError: a\\udcffb"):
        run(scheme)
