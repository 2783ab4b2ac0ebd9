"""Links and rivals that a search may choose for a scheme, and the scheme's deficit on them.

A deficit is a natural logarithm: 0.69 is a factor of two. Alone, on links that wander, lose packets or return
ACKs slowly, it is ln(power of the best other scheme / own power). Beside others it is the larger of
ln(fair share / own share), which is large if the scheme starves, and ln(1 / what the rivals keep), which is
large if it starves them; see `competition`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ccgym.envs import _core
from ccgym.envs.logs.flow_metrics import FlowMetrics, measure
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.specs.traffic_spec import CrossTraffic, FlowSpec
from ccgym.envs.specs.variation_spec import RateStep
from ccgym.experiments.difficulty import describe
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from .competition import BETWEEN_RIVALS_S, LATE_S, Rivalry, run_contested
from .contested_links import DELAY_MS, OPPORTUNITY_BITS, QUEUE_BDP, RATE_MBPS

CLASSIC = ("copa", "reno", "cubic", "vegas", "ledbat", "bbr", "vivace")
"""The schemes that the deficit alone is measured against; fixed, so that kept searches can go on."""
ALONE_SECONDS = 15.0
ITSELF = "itself"
"""A rival of the scheme's own kind."""
STARVED_SHARE = 1e-3
"""A flow with a smaller share of the link counts as having this one, so that the logarithm is finite."""

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A link, and the rivals on it."""

    emulator: EmulatorSpec
    rivalry: Rivalry | None
    """None: the scheme is alone."""

    @property
    def text(self) -> str:
        """The case in a few words."""
        link = describe(self.emulator)
        if self.rivalry is not None:
            return f"beside {self.rivalry.label}: {link}"
        cross = "".join(f", {each.rate_mbps:.3g} Mbit/s of datagrams" for each in self.emulator.cross_traffic)
        return link + cross

    def to_emulator(self, name: str) -> EmulatorSpec:
        """The case as an emulator; its first flow without a scheme is the one that begins late."""
        if self.rivalry is None:
            return self.emulator.model_copy(update={"name": name})
        rival = None if self.rivalry.scheme == ITSELF else self.rivalry.scheme
        flows = [FlowSpec(scheme=rival, start_s=BETWEEN_RIVALS_S * i) for i in range(self.rivalry.flows)]
        late = FlowSpec(start_s=LATE_S)
        return self.emulator.model_copy(update={"name": name, "flows": (*flows, late)})


class Alone:
    """Cases in which the scheme is alone on the link."""

    name = "alone"
    distributions: ClassVar[Mapping[str, BaseDistribution]] = {
        "rate_mbps": FloatDistribution(1, 300, log=True),
        "delay_ms": FloatDistribution(2, 150, log=True),
        "queue_bdp": FloatDistribution(0.25, 16, log=True),
        "loss": CategoricalDistribution((0.0, 0.001, 0.005, 0.02)),
        "arrivals": CategoricalDistribution(("constant", "poisson")),
        "step_factor": CategoricalDistribution((1.0, 0.5, 0.25)),
        "step_s": FloatDistribution(0.5, 5, log=True),
        "ack_rate_share": CategoricalDistribution((1.0, 0.05, 0.025)),
        "cross_share": CategoricalDistribution((0.0, 0.2, 0.5)),
    }

    def case(self, chosen: Parameters) -> Case:
        """Raises nothing: every choice is a link."""
        rate_mbps = chosen["rate_mbps"]
        steps = _steps(rate_mbps, chosen["step_factor"], chosen["step_s"])
        kind = {"arrivals": chosen["arrivals"]} if not steps else {"rate_steps": steps}
        uplink = LinkSpec(
            rate_mbps=rate_mbps,
            loss=chosen["loss"],
            queue="droptail",
            packets=_queue_packets(chosen),
            **kind,
        )
        cross = CrossTraffic(kind="poisson", rate_mbps=max(1e-3, rate_mbps * chosen["cross_share"]), seed=1)
        emulator = EmulatorSpec(
            name="chosen",
            delay_ms=round(chosen["delay_ms"]),
            uplink=uplink,
            downlink=LinkSpec(rate_mbps=rate_mbps * chosen["ack_rate_share"]),
            cross_traffic=(cross,) if chosen["cross_share"] else (),
        )
        return Case(emulator.drawn(0, begins=False), None)

    def deficit(self, scheme: str, case: Case) -> float:
        """ln(power of the best classic scheme / the scheme's power)."""
        others = (_power(rival, case.emulator) for rival in CLASSIC if rival != scheme)
        return math.log(max(others) / _power(scheme, case.emulator))


class BesideOthers:
    """Cases in which one to four rivals of one kind begin first."""

    name = "beside others"
    distributions: ClassVar[Mapping[str, BaseDistribution]] = {
        "rate_mbps": FloatDistribution(*RATE_MBPS, log=True),
        "delay_ms": FloatDistribution(*DELAY_MS, log=True),
        "queue_bdp": FloatDistribution(*QUEUE_BDP, log=True),
        "rival": CategoricalDistribution(("cubic", "reno", "bbr", "bbr3", "copa", "vegas", ITSELF)),
        "flows": IntDistribution(1, 4),
    }

    def case(self, chosen: Parameters) -> Case:
        """Raises nothing: every choice is a link."""
        uplink = LinkSpec(rate_mbps=chosen["rate_mbps"], queue="droptail", packets=_queue_packets(chosen))
        emulator = EmulatorSpec(name="chosen", delay_ms=round(chosen["delay_ms"]), uplink=uplink)
        return Case(emulator, Rivalry(chosen["rival"], chosen["flows"], enough=1))

    def deficit(self, scheme: str, case: Case) -> float:
        """How far the scheme is starved or starves the others; see the module."""
        assert case.rivalry is not None
        rival = scheme if case.rivalry.scheme == ITSELF else case.rivalry.scheme
        contested = run_contested(scheme, Rivalry(rival, case.rivalry.flows, enough=1), case.emulator)
        fair_share = 1 / (case.rivalry.flows + 1)
        starved = math.log(fair_share / max(contested.share, STARVED_SHARE))
        starves = -math.log(max(contested.rivals_keep, STARVED_SHARE))
        return max(starved, starves)


Terrain = Alone | BesideOthers
TERRAINS: tuple[Terrain, ...] = (Alone(), BesideOthers())


def _queue_packets(chosen: Parameters) -> int:
    bdp_packets: float = chosen["rate_mbps"] * 2e3 * chosen["delay_ms"] / OPPORTUNITY_BITS
    return max(2, round(float(chosen["queue_bdp"]) * bdp_packets))


def _steps(rate_mbps: float, factor: float, every_s: float) -> tuple[RateStep, ...]:
    """Steps down to `factor` times the rate and up again; empty if the rate is constant."""
    if factor == 1:
        return ()
    times = range(1, math.ceil(ALONE_SECONDS / every_s))
    return tuple(RateStep(at_s=i * every_s, rate_mbps=rate_mbps * (factor if i % 2 else 1)) for i in times)


def _power(scheme: str, spec: EmulatorSpec) -> float:
    """Throughput / p95 delay; a flow that starves counts as in an evaluation."""
    record = _core.simulate(spec.to_path(), scheme, seconds=ALONE_SECONDS, seed=0)
    log = LinkLog.from_record(record, spec.uplink.schedule())
    measured: FlowMetrics = measure(log, spec.delay_ms, run_s=ALONE_SECONDS)
    return measured.power
