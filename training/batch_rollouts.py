"""Rollouts of networks and features in Python: many paths at once through the vector environment's batch.

Paths, seeds and labels are the same as in native rollouts; Python makes them slower.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.gym.engine.env_spaces import own_or_native
from ccgym.envs.gym.own_features import Observer
from ccgym.envs.import_strings import telling
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.oracle.ideal import STEP_MS, ideal_windows
from ccgym.oracle.preference import DEFAULT_PREFERENCE
from ccgym.oracle.window import path_with_jitter
from ccgym.training.runs.monitoring import WindowTrace
from numpy.typing import NDArray

from .own_network import chosen_state, flat_state
from .rollouts import ROLLOUT_SEED, Rollout, beside_oracle

Floats = NDArray[np.float32]

LEAST_MBPS = 1e-3
"""The throughput that a rollout in which nothing arrives counts as."""
_DECIDING = _core.FLOW_STATES.index("deciding")


@dataclass(frozen=True)
class BatchPolicy:
    """A network with its feature set and its action set."""

    network: Any
    """A torch.nn.Module with `initial_state` and `step`."""
    features: str
    actions: str
    companion: bool


class BatchRollout:
    """The learners of some paths, from the beginning of each; one row per learner."""

    def __init__(
        self,
        policy: BatchPolicy,
        paths: Sequence[Any],
        seeds: Sequence[int],
        preferences: Sequence[float],
        learners: int,
    ) -> None:
        """`preferences` of each row, where the features hold them; `learners` on all paths together."""
        kind = own_or_native(policy.features)
        self._native = kind if isinstance(kind, str) else "raw"
        self._inference_policy = policy
        self._batch = _core.PathBatch(
            list(paths),
            features=self._native,
            actions=policy.actions,
            companion=policy.companion,
        )
        self._measured = np.zeros((learners, self._batch.observation_size), np.float32)
        self._telemetry = np.zeros((learners, len(_core.TELEMETRY)))
        self._preferences = np.array(preferences, np.float32)
        self._acts = np.zeros((learners, 1), np.float32)
        apart = learners > len(paths)
        self._observer = None if isinstance(kind, str) else Observer(kind, learners, apart=apart)
        self.state = policy.network.initial_state(learners)
        self._batch.reset(np.arange(len(paths), dtype=np.int32), np.array(seeds, np.uint64), self._measured)

    @property
    def deciding(self) -> NDArray[np.bool_]:
        """Which rows decide now."""
        deciding: NDArray[np.bool_] = self._batch.states == _DECIDING
        return deciding

    @property
    def times_ms(self) -> NDArray[np.float64]:
        """Of each row's path, since it came into being."""
        return self._batch.times_ms

    @property
    def cwnd_packets(self) -> NDArray[np.float64]:
        """Of each row."""
        return self._batch.cwnd_packets

    @property
    def memory(self) -> Floats:
        """What the network remembers, (rows, numbers)."""
        flat: Floats = flat_state(self.state).numpy()
        return flat if flat.size else np.zeros((len(self._acts), 0), np.float32)

    def telemetry(self, name: str) -> NDArray[np.float64]:
        """A column of the step that has just been run; 0 for a row that does not decide."""
        return self._telemetry[:, _core.TELEMETRY.index(name)]

    def decide(self) -> tuple[Floats, Floats]:
        """The observations, (rows, inputs), and the acts that the network would take, (rows,).

        Raises:
            InputError: the network raises, or gives no numbers.
        """
        deciding = self.deciding
        if self._observer is not None:
            observations = self._observer.observe(self._measured, self._acts, deciding).copy()
        else:
            observations = self._measured.copy()
            if self._native == "scale_free":
                observations[:, -1] = self._preferences
        network = self._inference_policy.network
        with torch.inference_mode(), telling(f"network: {type(network).__name__}.step"):
            outputs, state = network.step(torch.from_numpy(observations), self.state)
            self.state = chosen_state(torch.from_numpy(deciding), state, self.state)
        if not outputs.isfinite().all():
            raise InputError(
                "network: step gave NaN or infinity, should give finite numbers; did it diverge?"
            )
        acts = outputs.argmax(dim=1) if self._inference_policy.actions == "indigo" else outputs[:, 0]
        return observations, acts.numpy().astype(np.float32)

    def step(self, acts: Floats) -> None:
        """Carries out these acts, and runs to the next decisions."""
        self._acts[:, 0] = acts
        self._batch.step(self._acts, self._measured, self._telemetry)


@dataclass(frozen=True)
class _Measured:
    """One rollout: throughput in Mbit/s of IP bytes, p95 one-way delay in ms, and the window over time."""

    throughput_mbps: float
    p95_delay_ms: float
    times_ms: NDArray[np.float64]
    cwnd_packets: NDArray[np.float64]


def make_rollouts_in_batch(
    policy: BatchPolicy,
    emulators: Sequence[NamedEmulator],
    windows: NDArray[np.float64],
    seconds: float,
    *,
    jitter: bool = False,
) -> list[Rollout]:
    """As `make_rollouts` does for a policy file; delays are means of steps, not of packets."""
    measured = _roll_out(policy, emulators, seconds, jitter=jitter)
    return [
        beside_oracle(emulator, ours.throughput_mbps, ours.p95_delay_ms, window, seconds, jitter=jitter)
        for emulator, ours, window in zip(emulators, measured, windows, strict=True)
    ]


def trace_windows_in_batch(
    policy: BatchPolicy, emulators: Sequence[NamedEmulator], seconds: float
) -> list[WindowTrace]:
    """As `trace_windows` does for a policy file, over the emulators on which a flow is alone."""
    alone = [emulator for emulator in emulators if not emulator.spec.flows]
    steps = round(seconds * 1e3 / STEP_MS)
    traces = []
    for emulator, measured in zip(alone, _roll_out(policy, alone, seconds), strict=True):
        ideal = ideal_windows(emulator.spec, DEFAULT_PREFERENCE, steps)
        places = np.minimum(measured.times_ms / STEP_MS, steps - 1).astype(np.intp)
        traces.append(
            WindowTrace(emulator.label, measured.times_ms / 1e3, measured.cwnd_packets, ideal[places])
        )
    return traces


def _roll_out(
    policy: BatchPolicy, emulators: Sequence[NamedEmulator], seconds: float, *, jitter: bool = False
) -> list[_Measured]:
    specs = [emulator.spec.drawn(ROLLOUT_SEED) for emulator in emulators]
    paths = [path_with_jitter(spec) if jitter else spec.to_path() for spec in specs]
    count = len(specs)
    if not count:
        return []
    rollout = BatchRollout(policy, paths, [ROLLOUT_SEED] * count, [DEFAULT_PREFERENCE] * count, count)
    columns: dict[str, list[NDArray[np.float64]]] = {
        name: [] for name in ("time_ms", "cwnd_packets", "delivered_bytes", "mean_rtt_ms")
    }
    while not columns["time_ms"] or columns["time_ms"][-1].min() < 1e3 * seconds:
        _, acts = rollout.decide()
        rollout.step(acts)
        for name, steps in columns.items():
            steps.append(rollout.telemetry(name).copy())
    table = {name: np.array(steps) for name, steps in columns.items()}
    return [
        _measured(spec.delay_ms, seconds, {name: rows[:, i] for name, rows in table.items()})
        for i, spec in enumerate(specs)
    ]


def _measured(delay_ms: float, seconds: float, column: dict[str, NDArray[np.float64]]) -> _Measured:
    within = (column["time_ms"] > 0) & (column["time_ms"] <= 1e3 * seconds)
    delivered = column["delivered_bytes"][within]
    one_way_ms = column["mean_rtt_ms"][within] - delay_ms  # the way back has no queue to speak of
    order = np.argsort(one_way_ms)
    reached = np.cumsum(delivered[order]) >= 0.95 * delivered.sum()
    return _Measured(
        throughput_mbps=max(float(delivered.sum()) * 8e-6 / seconds, LEAST_MBPS),
        p95_delay_ms=max(float(one_way_ms[order][reached.argmax()]) if len(order) else 0.0, delay_ms),
        times_ms=column["time_ms"][within],
        cwnd_packets=column["cwnd_packets"][within],
    )
