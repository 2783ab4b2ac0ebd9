"""The oracle: near the BDP, near the published windows, the same twice, kept on disk."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec, select_emulators
from ccgym.oracle import cache
from ccgym.oracle import window as search
from ccgym.oracle.published import PUBLISHED_WINDOWS
from ccgym.oracle.window import (
    OracleWindow,
    bdp_packets,
    find_window,
    find_windows,
    refuse_unsearchable,
    score,
    search_window,
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ccgym" / "oracle"


FOUND = OracleWindow(cwnd_packets=3, bdp_packets=2.5, throughput_mbps=1, p95_delay_ms=10)


def constant(rate_mbps: float, delay_ms: int) -> EmulatorSpec:
    return EmulatorSpec(name="link", delay_ms=delay_ms, uplink=LinkSpec(rate_mbps=rate_mbps))


def test_bdp_counts_packets_of_1464_bytes() -> None:
    assert bdp_packets(constant(12, 30)) == pytest.approx(12e6 * 0.060 / (8 * 1464))


@pytest.mark.parametrize(("rate_mbps", "delay_ms"), [(5.0, 10), (12.0, 30), (50.0, 40)])
def test_constant_link_wants_the_bdp_and_a_short_queue(rate_mbps: float, delay_ms: int) -> None:
    spec = constant(rate_mbps, delay_ms)
    found = search_window(spec)
    packets_per_ms = rate_mbps * 1e3 / (8 * 1464)
    assert found.bdp_packets <= found.cwnd_packets <= found.bdp_packets + 6 * packets_per_ms + 1
    assert found.throughput_mbps > 0.97 * rate_mbps
    assert found.p95_delay_ms <= delay_ms + 6


def test_poisson_link_settles_between_throughput_and_delay() -> None:
    uplink = LinkSpec(rate_mbps=3.0, arrivals="poisson", queue="droptail", packets=400)
    found = search_window(EmulatorSpec(name="link", delay_ms=50, uplink=uplink))
    assert 0.8 * 3 < found.throughput_mbps < 3
    assert found.p95_delay_ms < 2 * 50


def test_windows_are_near_the_published_ones_of_the_30_training_emulators() -> None:
    emulators = select_emulators("synthetic,calibrated")
    with ThreadPoolExecutor(2) as executor:
        found = find_windows([emulator.spec for emulator in emulators], executor)
    published = np.array([PUBLISHED_WINDOWS[emulator.label] for emulator in emulators])
    deviations = np.abs(found / published - 1)
    assert deviations.mean() <= 0.06


def test_score_charges_delay_beyond_the_free_queue_only() -> None:
    assert score(50, 10, 51) == score(50, 10, 54) > score(50, 10, 56)
    assert score(50, 11, 54) > score(50, 10, 54)


def test_search_finds_the_same_again() -> None:
    uplink = LinkSpec(rate_mbps=2.0, arrivals="poisson", loss=0.01)
    spec = EmulatorSpec(name="link", delay_ms=20, uplink=uplink)
    assert search_window(spec) == search_window(spec)


def test_second_find_reads_the_cache(monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> None:
    found = find_window(constant(4, 10))
    assert len(list(own_cache.iterdir())) == 1
    monkeypatch.setattr(search, "search_window", lambda _: pytest.fail("searched again"))
    assert find_window(constant(4, 10)) == found


def test_cache_tells_specs_and_searches_apart(tmp_path: Path) -> None:
    spec, other = constant(4, 10), constant(4, 11)
    code, changed = tmp_path / "a.py", tmp_path / "b.py"
    code.write_text("a")
    changed.write_text("b")
    cache.store(spec, code, FOUND)
    assert cache.load(spec, code, OracleWindow) == FOUND
    assert cache.load(other, code, OracleWindow) is None
    assert cache.load(spec, changed, OracleWindow) is None
    assert cache.load(spec.model_copy(update={"name": "alias"}), code, OracleWindow) == FOUND


def test_changed_trace_file_is_another_key(tmp_path: Path) -> None:
    trace, code = tmp_path / "link.trace", tmp_path / "a.py"
    code.write_text("a")
    trace.write_text("1\n2\n")
    spec = EmulatorSpec(name="link", delay_ms=5, uplink=LinkSpec(trace=trace))
    cache.store(spec, code, FOUND)
    trace.write_text("1\n3\n")
    assert cache.load(spec, code, OracleWindow) is None


@pytest.mark.parametrize(
    "entry",
    [b"", b"[1, 2]", b"null", b'{"cwnd_packets": 3}', b'{"cwnd_packets": "x"}', b"\xff{}", b"[" * 100_000],
)
def test_an_entry_that_is_no_window_counts_as_none(own_cache: Path, entry: bytes) -> None:
    found = find_window(constant(4, 10))
    (file,) = own_cache.iterdir()
    file.write_bytes(entry)
    assert find_window(constant(4, 10)) == found
    assert file.read_bytes() != entry


def test_a_window_that_nobody_could_run_is_refused_before_the_search() -> None:
    spec = EmulatorSpec(name="far", delay_ms=10_000, uplink=LinkSpec(rate_mbps=10_000.0))
    with pytest.raises(InputError, match=r"far: windows of up to .* expected at most 1,000,000"):
        search_window(spec)
    with pytest.raises(InputError, match=r"far: windows of up to .* expected at most 1,000,000"):
        refuse_unsearchable(spec)


@pytest.mark.parametrize("place", ["uplink", "downlink"])
def test_a_link_that_loses_everything_has_no_window(place: str) -> None:
    spec = constant(5, 10)
    lossy = spec.model_copy(update={place: spec.uplink.model_copy(update={"loss": 1.0})})
    for refuse in (search_window, refuse_unsearchable):
        with pytest.raises(InputError, match=rf"{place}.loss is 1: nothing comes through"):
            refuse(lossy)


def test_cache_that_cannot_be_written_does_not_stop_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    assert find_window(constant(4, 10)).cwnd_packets > 0
    assert not Path("/proc/none").exists()
