"""Flows of the policy that comes along share a bottleneck, also with one that fills the queue."""

import numpy as np
from ccgym.agents.shipped import policy_path
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.evaluation.metrics.fairness import jain_index

SCHEME = f"policy:{policy_path('indigo2')}"
SPEC = EmulatorSpec(
    name="shared", delay_ms=10, uplink=LinkSpec(rate_mbps=46.0, queue="droptail", packets=153)
)


def delivered(flows: list[_core.Flow], seconds: float, from_s: float) -> list[int]:
    """Packets of every flow that left the link in the last part of a run."""
    records = _core.simulate(SPEC.to_path(), flows, seconds=seconds, seed=0)
    return [int(np.count_nonzero(record.departure_ms >= from_s * 1e3)) for record in records]


def test_late_comers_get_their_share_and_no_more() -> None:
    by_gap = np.array(
        [
            delivered([_core.Flow(SCHEME, start_s=gap_s * i) for i in range(4)], 12.0, 7.0)
            for gap_s in (0.6, 0.7, 0.8)
        ],
        dtype=np.float64,
    )
    assert np.median(jain_index(by_gap.T)) >= 0.95
    assert by_gap.sum(axis=1).min() * 1504 * 8 / 5e6 >= 0.95 * 46.0


def test_a_flow_that_fills_the_queue_leaves_a_part_of_the_link() -> None:
    policy, cubic = delivered([_core.Flow(SCHEME), _core.Flow("cubic")], 30.0, 10.0)
    assert 0.25 <= policy / (policy + cubic) <= 0.75
