"""Controllers in shared libraries, from a folder that is not ours."""

import os
from pathlib import Path

import pytest
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.evaluation.schemes import Kind, select_native, select_schemes

from .controller_library import NO_CLONE, NO_ON_ACK, SYMBOL, VERSION, build_cpp_library, build_library, on_ack
from .test_python_schemes import AIMD, LISTENER, run, run_through_silence, write

pytestmark = pytest.mark.slow
MACHINE = 18
"""Where the header of a library names the processor."""


def test_runs_as_the_same_in_python_to_the_bit(tmp_path: Path) -> None:
    library = run(select_native(f"so:{build_library(tmp_path)}"))
    python = run(select_native(write(tmp_path, AIMD)))
    assert library.delivered_packets > 0.9 * library.opportunities
    assert list(library.departure_ms) == list(python.departure_ms)
    assert list(library.cwnd_packets) == list(python.cwnd_packets)


LISTENER_IN_C = (
    on_ack(
        "limits->cwnd_packets += 0.001 * ack->rate_app_limited;"
        " for (size_t i = 0; i < ack->lost_packets; ++i)"
        " limits->cwnd_packets += 0.01 * ack->lost[i].app_limited;"
    ),
    (
        "limits->cwnd_packets = ((struct aimd*)self)->least_packets;",
        "limits->cwnd_packets = 2.0 + 0.01 * timeout->lost_packets + 1e-9 * timeout->delivered_bytes"
        " + 1e-8 * timeout->declared_lost_bytes + 1e-6 * timeout->next_seq"
        " + HEARD(timeout);",
    ),
    (
        "const struct ccgym_controller_table* ccgym_controller",
        """static void on_sent(void* self, double now_ms, const struct ccgym_sent_packet* packet,
                    struct ccgym_limits* limits) {
  limits->cwnd_packets += 1e-7 * packet->smoothed_rtt_ms;
  if (limits->next_timer_ms == CCGYM_NO_TIMER) limits->next_timer_ms = now_ms + 50.0;
}
static void on_timer(void* self, double now_ms, const struct ccgym_timer* timer,
                     struct ccgym_limits* limits) {
  limits->cwnd_packets += HEARD(timer) + 1e-8 * timer->inflight_bytes;
  limits->next_timer_ms = CCGYM_NO_TIMER;
  limits->holds_back = !limits->holds_back;
}
const struct ccgym_controller_table* ccgym_controller""",
    ),
    (
        "struct aimd {",
        "#define HEARD(told) (1e-6 * (told->rtt_ms + 2.0 * told->smoothed_rtt_ms + 4.0 * told->min_rtt_ms))\n"
        "struct aimd {",
    ),
    (".clone = clone,", ".clone = clone, .on_sent = on_sent, .on_timer = on_timer,"),
)


def test_every_callback_tells_a_library_what_it_tells_a_class(tmp_path: Path) -> None:
    library = run_through_silence(select_native(f"so:{build_library(tmp_path, *LISTENER_IN_C)}"))
    python = run_through_silence(select_native(write(tmp_path, LISTENER)))
    assert list(library.departure_ms) == list(python.departure_ms)
    assert list(library.cwnd_packets) == list(python.cwnd_packets)


def test_text_after_the_library_file_is_its_argument(tmp_path: Path) -> None:
    library = build_library(tmp_path)
    (scheme,) = select_schemes(f"so:{library}:7.5")
    assert (scheme.label, scheme.kind, scheme.outside_file) == ("aimd.so-7.5", Kind.LIBRARY, library)
    assert scheme.controller_with("/there/aimd.so") == "so:/there/aimd.so:7.5"
    with pytest.raises(InputError, match="refuses the arguments '0'"):
        select_schemes(f"so:{library}:0")


def test_the_fingerprint_follows_the_file(tmp_path: Path) -> None:
    (before,) = select_schemes(f"so:{build_library(tmp_path)}")
    was = before.fingerprint()
    build_library(tmp_path, on_ack("limits->cwnd_packets += 1;"), name="other").replace(
        tmp_path / "aimd/aimd.so"
    )
    assert before.fingerprint() != was


def test_the_fingerprint_says_what_runs_and_not_where_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, python = build_library(tmp_path), write(tmp_path, AIMD + "class Other(Aimd): ...\n")
    monkeypatch.chdir(tmp_path)

    def fingerprints(*names: str) -> set[str]:
        return {scheme.fingerprint() for name in names for scheme in select_schemes(name)}

    near = f"so:{os.path.relpath(library)}"
    assert len(fingerprints(f"so:{library}", near, near.replace("so:", "so:./"))) == 1
    assert len(fingerprints(near, f"{near}:7.5", f"{near}:8")) == 3
    assert len(fingerprints(python, "python:aimd.py:Aimd", "python:./aimd.py:Aimd")) == 1
    assert len(fingerprints(python, "python:aimd.py:Other")) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (VERSION, "made for version 99 of ccgym/controller.h, not 4"),
        (SYMBOL, "has no function ccgym_controller"),
        (NO_ON_ACK, "lacks create, destroy, on_ack or on_timeout"),
    ],
)
def test_a_library_that_does_not_fit_is_refused(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        select_schemes(f"so:{build_library(tmp_path, change)}")


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.so")
    (tmp_path / "text.so").write_text("not a library, but longer than the header of one" * 10)
    other = bytearray(Path(_core.__file__ or "").read_bytes())
    other[MACHINE] ^= 0xFF
    (tmp_path / "other.so").write_bytes(other)
    for name, said in [
        ("none.so", "no such file"),
        ("pipe.so", "not a regular file"),
        (".", "not a regular file"),
        ("text.so", "no library that can be loaded: invalid ELF header"),
        ("other.so", "no library that can be loaded: of another architecture"),
    ]:
        with pytest.raises(InputError, match=said):
            select_schemes(f"so:{tmp_path / name}")
    with pytest.raises(InputError, match=r"expected so:FILE\.so"):
        select_schemes("so:")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("limits->cwnd_packets = 0.0 / 0.0;", "cwnd_packets is -?nan"),
        ("limits->pacing_mbps = -2;", "pacing_mbps is -2"),
    ],
)
def test_a_window_or_rate_that_is_no_number_above_0_ends_the_run(
    tmp_path: Path, statement: str, said: str
) -> None:
    controller = f"so:{build_library(tmp_path, on_ack(statement + ' return;'))}"
    with pytest.raises(RuntimeError, match=rf"aimd\.so: {said}"):
        run(controller)


@pytest.mark.parametrize(
    ("thrown", "said"),
    [('std::out_of_range("no such ACK")', "no such ACK"), ("42", "an exception that is no std::exception")],
)
def test_what_a_library_in_cpp_throws_ends_the_run_and_names_it(
    tmp_path: Path, thrown: str, said: str
) -> None:
    library = build_cpp_library(tmp_path, f"throw {thrown};")
    with pytest.raises(RuntimeError, match=rf"^so:.*thrower\.so: threw {said}$"):
        run(f"so:{library}")


def test_without_a_clone_it_runs_but_is_not_copied(tmp_path: Path) -> None:
    controller = f"so:{build_library(tmp_path, NO_CLONE)}"
    assert run(controller, seconds=1).delivered_packets > 0
    link = _core.Link(_core.Schedule.constant(12))
    path = _core.Path(10, link, link)
    stream = _core.AckStream(path, controller, seconds=1, seed=1)
    assert stream.acks > 0
