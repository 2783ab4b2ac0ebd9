"""Several flows on one path of the twin, as Python sees them."""

import math
import re
from typing import Any

import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.specs.emulator_spec import EmulatorSpec

DUMBBELL = EmulatorSpec.model_validate(
    {
        "name": "dumbbell",
        "delay_ms": 20,
        "uplink": {"rate_mbps": 12.0, "queue": "droptail", "packets": 80},
    }
)


def test_each_flow_has_its_own_run() -> None:
    flows = [_core.Flow("fixed:30"), _core.Flow("reno", start_s=1, stop_s=3, extra_delay_ms=10)]
    first, second = _core.simulate(DUMBBELL.to_path(), flows, seconds=5, seed=1)
    assert first.arrival_ms[0] == 0
    assert second.arrival_ms[0] == 1000
    assert second.arrival_ms[-1] < 3000
    assert second.cwnd_ms[[0, -1]].tolist() == [1010, 3000]
    assert first.opportunities == second.opportunities == 5000


def test_a_flow_of_a_given_size_records_its_completion_time() -> None:
    flows = [_core.Flow("cubic", start_s=0.1 * i, bytes=15_000) for i in range(50)]
    records = _core.simulate(DUMBBELL.to_path(), flows, seconds=10, seed=1)
    assert [record.delivered_packets for record in records] == [11] * 50
    times_ms = np.concatenate([record.completion_ms for record in records])
    assert len(times_ms) == 50
    assert times_ms.min() >= 80  # two round trips of 42 ms ...
    assert times_ms.mean() < 120  # ... some beside others


def test_every_answer_to_a_request_records_its_completion_time() -> None:
    (record,) = _core.simulate(
        DUMBBELL.to_path(), [_core.Flow("reno", bytes=10_000, mean_think_s=0.1)], seconds=20, seed=1
    )
    assert len(record.completion_ms) > 80


def test_one_flow_in_a_list_runs_as_the_flow_alone() -> None:
    alone = _core.simulate(DUMBBELL.to_path(), "copa", seconds=5, seed=1)
    (listed,) = _core.simulate(DUMBBELL.to_path(), [_core.Flow("copa")], seconds=5, seed=1)
    np.testing.assert_array_equal(alone.departure_ms, listed.departure_ms)


def _share_of_the_second(extra_delay_ms: float) -> float:
    uplink = {"rate_mbps": 96.0, "queue": "droptail", "packets": 160}
    spec = EmulatorSpec.model_validate({"name": "full", "delay_ms": 10, "uplink": uplink})
    flows = [_core.Flow("cubic"), _core.Flow("cubic", start_s=1, extra_delay_ms=extra_delay_ms)]
    records = _core.simulate(spec.to_path(), flows, seconds=120, seed=1)
    first, second = (np.count_nonzero(record.departure_ms > 30_000) for record in records)
    return float(second / (first + second))


def test_a_flow_later_in_each_tick_gets_less_of_a_full_queue() -> None:
    """As a sender in user space beside one in the kernel, in real mahimahi: traffic phase effects."""
    assert _share_of_the_second(0.05) < 0.25
    assert 0.4 < _share_of_the_second(0) < 0.6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start_s": 2, "stop_s": 1}, "stop_s 1"),
        ({"start_s": float("nan")}, "start_s nan"),
        ({"extra_delay_ms": -1}, "extra_delay_ms -1"),
        ({"bytes": -1}, "bytes -1"),
        ({"mean_think_s": 1}, "need a size"),
        ({"mean_on_s": 1}, "a millisecond or more"),
    ],
)
def test_a_bad_flow_is_told_in_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.Flow("reno", **arguments)


def test_learners_share_a_path_with_a_scheme() -> None:
    link = DUMBBELL.uplink.to_link()
    flows = [_core.Flow(), _core.Flow("reno"), _core.Flow(start_s=0.5, stop_s=1.5)]
    path = _core.Path(20, link, link, flows=flows)
    batch = _core.PathBatch([path] * 3, features="indigo", actions="indigo")
    observations = np.zeros((6, batch.observation_size), dtype=np.float32)
    telemetry = np.zeros((6, len(_core.TELEMETRY)))
    assert (len(batch), batch.paths) == (6, 3)
    batch.reset(np.arange(3, dtype=np.int32), np.ones(3, dtype=np.uint64), observations)
    seen: set[str] = set()
    for _ in range(300):
        seen.update(_core.FLOW_STATES[state] for state in batch.states[1::2])
        batch.step(np.full((6, 1), 2, dtype=np.float32), observations, telemetry)
    assert seen == set(_core.FLOW_STATES)
    np.testing.assert_array_equal(telemetry[::2], telemetry[[0, 0, 0]])


@pytest.mark.parametrize("delay_ms", [-1.0, 1e13, 1e300, math.nan, math.inf])
def test_a_delay_whose_nanoseconds_do_not_fit_is_refused(delay_ms: float) -> None:
    link = _core.Link(_core.Schedule.constant(12))
    told = re.escape(f"delay_ms {delay_ms:g} is not within 0 and 1e12")
    with pytest.raises(ValueError, match=told):
        _core.Path(delay_ms, link, link)
    with pytest.raises(ValueError, match=told):
        _core.Flow("cubic", extra_delay_ms=delay_ms)


@pytest.mark.parametrize("seconds", [-1.0, 1e10, 1e300, math.nan, math.inf])
def test_a_run_whose_nanoseconds_do_not_fit_is_refused(seconds: float) -> None:
    link = _core.Link(_core.Schedule.constant(12))
    with pytest.raises(ValueError, match=re.escape(f"a run of {seconds:g} s: 0 to 1e9 would be right")):
        _core.simulate(_core.Path(10, link, link), "cubic", seconds=seconds, seed=1)
