"""What the twin computes ahead, where nobody watches the link, is what a watched run goes through."""

from typing import Any

import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.specs.emulator_spec import EmulatorSpec

DROPTAIL = {"rate_mbps": 24.0, "queue": "droptail", "packets": 60}
PATHS: dict[str, dict[str, Any]] = {
    "plain": {},
    "poisson": {"uplink": {"rate_mbps": 24.0, "arrivals": "poisson", "seed": 1}},
    "bytes": {"uplink": {"rate_mbps": 24.0, "queue": "droptail", "bytes": 50_000}},
    "slow ACKs": {"downlink": {"rate_mbps": 0.3}},
    "ACKs that are dropped": {"downlink": {"rate_mbps": 0.3, "queue": "droptail", "packets": 5}},
    "losses": {"uplink": {**DROPTAIL, "loss": 0.01}, "downlink": {"rate_mbps": 24.0, "loss": 0.02}},
    "outages": {"uplink": {**DROPTAIL, "onoff": {"mean_on_s": 1.0, "mean_off_s": 0.1}}},
    "delay in front": {"nesting": ["link", "loss", "onoff", "delay"]},
    "delay in steps": {"delay_steps": [{"at_s": 1, "delay_ms": 40}, {"at_s": 2, "delay_ms": 5}]},
    "cross traffic": {"cross_traffic": [{"kind": "poisson", "rate_mbps": 6.0, "seed": 3}]},
    "exact times": {"timing": "continuous"},
}
FLOWS = [_core.Flow("cubic"), _core.Flow("copa", start_s=0.5, extra_delay_ms=7)]


@pytest.mark.parametrize("flows", [FLOWS[:1], FLOWS], ids=["one flow", "two flows"])
@pytest.mark.parametrize("changes", PATHS.values(), ids=PATHS)
def test_a_run_is_the_same_with_and_without_its_log(changes: dict[str, Any], flows: list[_core.Flow]) -> None:
    spec = EmulatorSpec.model_validate({"name": "path", "delay_ms": 15, "uplink": DROPTAIL, **changes})
    watched, alone = (
        _core.simulate(spec.to_path(), flows, seconds=4, seed=1, log=log) for log in (True, False)
    )
    for record, other in zip(watched, alone, strict=True):
        assert record.delivered_packets > 50
        assert record.delivered_packets == other.delivered_packets
        assert (record.sent_packets, record.lost_packets) == (other.sent_packets, other.lost_packets)
        assert np.array_equal(record.cwnd_packets, other.cwnd_packets)
