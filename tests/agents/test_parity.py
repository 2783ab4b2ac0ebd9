"""The C++ network against PyTorch: equal to 1e-5, with the same choice, over whole episodes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.mlp import MlpPolicy
from ccgym.agents.policy_file import PolicyModule, load_policy, save_policy
from ccgym.agents.policy_header import PolicySpec
from ccgym.agents.stack import ACTIVATIONS, StackPolicy, UnknownLayersError, as_stack
from ccgym.envs import _core
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

EPISODE_STEPS = 1000
TOLERANCE = 1e-5


def torch_outputs(module: PolicyModule, observations: NDArray[np.float32]) -> NDArray[np.float32]:
    with torch.no_grad():
        if isinstance(module, MlpPolicy):
            outputs = module(torch.from_numpy(observations))
        else:
            outputs = module(torch.from_numpy(observations)[None])[0][0]
    array: NDArray[np.float32] = outputs.numpy()
    return array


def assert_parity(
    module: PolicyModule, observations: NDArray[np.float32], path: Path, spec: PolicySpec
) -> None:
    save_policy(path, module, spec, trained_on="nothing")
    ours = _core.evaluate_policy(str(path), observations)
    theirs = torch_outputs(module, observations)
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= TOLERANCE
    chosen = np.take_along_axis(theirs, ours.argmax(axis=1)[:, None], axis=1)
    assert (theirs.max(axis=1, keepdims=True) - chosen <= 2 * TOLERANCE).all()  # the same but for a tie


def indigo_episode(rng: np.random.Generator) -> NDArray[np.float32]:
    """(T, 9): walks of delay, rates and window in Indigo's units, and random previous actions."""
    walks = np.abs(np.cumsum(rng.normal(0, 0.02, (EPISODE_STEPS, 4)), axis=0))
    previous = np.eye(5)[rng.integers(0, 5, EPISODE_STEPS)]
    return np.concatenate([walks, previous], axis=1).astype(np.float32)


@pytest.mark.parametrize("feature_set", sorted(_core.POLICY_FEATURES))
@pytest.mark.parametrize("actions", sorted(_core.POLICY_ACTIONS))
@pytest.mark.parametrize("hidden", [1, 32, 48])
def test_random_networks_agree_over_random_episodes(
    tmp_path: Path, feature_set: str, actions: str, hidden: int
) -> None:
    torch.manual_seed(hidden)
    inputs = len(_core.POLICY_FEATURES[feature_set])
    module = LstmPolicy(inputs, hidden, _core.POLICY_ACTIONS[actions])
    observations = np.random.default_rng(hidden).normal(0, 1, (EPISODE_STEPS, inputs)).astype(np.float32)
    assert_parity(module, observations, tmp_path / "policy.safetensors", PolicySpec(feature_set, actions))


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), gain=st.floats(0.1, 3.0), input_gain=st.floats(0.1, 30.0))
def test_networks_of_any_strength_agree_over_indigo_episodes(
    tmp_path_factory: pytest.TempPathFactory, seed: int, gain: float, input_gain: float
) -> None:
    torch.manual_seed(seed)
    module = LstmPolicy(9, 32, 5)
    with torch.no_grad():
        weights = dict(module.named_parameters())
        weights["lstm.weight_ih_l0"].mul_(input_gain)
        weights["linear.weight"].mul_(gain)
    observations = indigo_episode(np.random.default_rng(seed))
    path = tmp_path_factory.mktemp("parity") / "policy.safetensors"
    assert_parity(module, observations, path, PolicySpec("indigo", "indigo"))


def bottleneck() -> _core.Path:
    """12 Mbit/s, 60 ms round trip, 90 kB droptail."""
    schedule = _core.Schedule.constant(12)
    return _core.Path(30, _core.Link(schedule, queue="droptail", queue_bytes=90_000), _core.Link(schedule))


Decide = Callable[[NDArray[np.float32]], float]
"""The action that follows the observations so far, (T, I)."""


def decide_in_torch(module: LstmPolicy, actions: str) -> Decide:
    state = None

    def decide(observations: NDArray[np.float32]) -> float:
        nonlocal state
        with torch.no_grad():
            outputs, state = module(torch.from_numpy(observations[None, -1:]), state)
        return float(outputs[0, 0].argmax() if actions == "indigo" else outputs[0, 0, 0])

    return decide


def decide_natively(policy_file: Path) -> Decide:
    """With the network of the sender, which answers with the same bits on every machine."""
    return lambda observations: float(_core.evaluate_policy(str(policy_file), observations)[-1, 0])


def run_in_gym(decide: Decide, spec: PolicySpec) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """An episode: observations (T, I) and telemetry (T, len(TELEMETRY))."""
    batch = _core.PathBatch([bottleneck()], features=spec.feature_set, actions=spec.actions)
    observation = np.zeros((1, batch.observation_size), dtype=np.float32)
    observations = np.zeros((EPISODE_STEPS, batch.observation_size), dtype=np.float32)
    telemetry = np.zeros((EPISODE_STEPS, len(_core.TELEMETRY)))
    batch.reset(np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.uint64), observation)
    for step in range(EPISODE_STEPS):
        observations[step] = observation[0]
        action = decide(observations[: step + 1])
        batch.step(
            np.full((1, batch.action_size), action, np.float32), observation, telemetry[step : step + 1]
        )
    return observations, telemetry


@pytest.mark.parametrize("hidden", [[], [8], [32, 16]])
def test_networks_without_memory_agree_over_random_episodes(tmp_path: Path, hidden: list[int]) -> None:
    torch.manual_seed(len(hidden))
    observations = np.random.default_rng(3).normal(0, 2, (EPISODE_STEPS, 30)).astype(np.float32)
    module, spec = MlpPolicy(30, hidden, 1), PolicySpec("aurora", "rate")
    assert_parity(module, observations, tmp_path / "policy.safetensors", spec)


def delay_keeper() -> LstmPolicy:
    """A policy that is never at rest: it opens the window while the delay is short, and closes it after."""
    module = LstmPolicy(9, 1, 1)
    with torch.no_grad():
        weights = dict(module.named_parameters())
        for weight in weights.values():
            weight.zero_()
        weights["lstm.bias_ih_l0"][:] = torch.tensor([9.0, -9.0, 0.0, 9.0])  # gates i and o open, f shut
        weights["lstm.weight_ih_l0"][2, 0] = 10.0  # state: tanh of the delay
        weights["linear.weight"][:] = -1.0
        weights["linear.bias"][:] = 0.3
    return module


def queue_keeper() -> MlpPolicy:
    """A pacing policy that is never at rest: it sends faster while the delay is short, and slower after."""
    module = MlpPolicy(30, [1], 1)
    with torch.no_grad():
        weights = dict(module.named_parameters())
        for weight in weights.values():
            weight.zero_()
        weights["layers.0.weight"][0, 28] = -8.0  # the newest latency ratio, halved
        weights["layers.0.bias"][:] = 4.8  # balance at 1.2 times the least round trip
        weights["layers.1.weight"][:] = 1.5
    return module


def test_a_pacing_policy_runs_at_its_rate_in_the_twin(tmp_path: Path) -> None:
    path, spec = tmp_path / "policy.safetensors", PolicySpec("aurora", "rate")
    save_policy(path, queue_keeper(), spec, trained_on="nothing")
    record = _core.simulate(bottleneck(), f"policy:{path}", seconds=9, seed=1)
    batch = _core.PathBatch([bottleneck()], features="aurora", actions="rate")
    observation = np.zeros((1, 30), dtype=np.float32)
    telemetry = np.zeros((1, len(_core.TELEMETRY)))
    batch.reset(np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.uint64), observation)
    steps: list[NDArray[np.float64]] = []
    while not steps or steps[-1][0] < 8990:
        batch.step(_core.evaluate_policy(str(path), observation), observation, telemetry)
        steps.append(telemetry[0].copy())
    begin_ms, end_ms = steps[0][0] - steps[0][_core.TELEMETRY.index("step_ms")], steps[-1][0]
    acknowledged_ms = record.departure_ms + 60  # a round trip later
    in_flight = np.count_nonzero((acknowledged_ms > begin_ms) & (acknowledged_ms <= end_ms))
    in_gym = sum(step[_core.TELEMETRY.index("delivered_bytes")] for step in steps) / 1464
    assert in_gym == pytest.approx(in_flight, abs=1)  # one may be on its way at either end
    assert in_flight > 0.8 * 9e3  # most of the link: 12 Mbit/s are 1 packet per ms


def test_a_policy_runs_the_same_in_the_gym_and_as_a_controller(tmp_path: Path) -> None:
    path, spec = tmp_path / "policy.safetensors", PolicySpec("indigo", "log_window")
    save_policy(path, delay_keeper(), spec, trained_on="nothing")
    record = _core.simulate(bottleneck(), f"policy:{path}", seconds=9, seed=1)
    _, telemetry = run_in_gym(decide_natively(path), spec)
    time_ms, step_ms, cwnd = (
        telemetry[:, _core.TELEMETRY.index(name)] for name in ("time_ms", "step_ms", "cwnd_packets")
    )
    decided_ms = time_ms - step_ms
    last_decision = np.searchsorted(decided_ms, record.cwnd_ms, side="right") - 1
    measured = last_decision >= 0
    assert np.array_equal(record.cwnd_packets[measured], np.ceil(cwnd[last_decision[measured]]))
    assert len(np.unique(record.cwnd_packets)) > 30


@pytest.mark.parametrize("feature_set", sorted(_core.POLICY_FEATURES))
@pytest.mark.parametrize("actions", sorted(_core.POLICY_ACTIONS))
def test_networks_agree_over_episodes_recorded_in_the_gym(
    tmp_path: Path, feature_set: str, actions: str
) -> None:
    torch.manual_seed(6)
    spec = PolicySpec(feature_set, actions)
    module = LstmPolicy(len(_core.POLICY_FEATURES[feature_set]), 32, _core.POLICY_ACTIONS[actions])
    if feature_set == "raw":  # of up to 4e7, of whose sums float32 holds no 1e-5: whoever reads them scales
        with torch.no_grad():
            dict(module.named_parameters())["lstm.weight_ih_l0"].mul_(1e-7)
    observations, _ = run_in_gym(decide_in_torch(module, actions), spec)
    assert_parity(module, observations, tmp_path / "policy.safetensors", spec)


def test_an_episode_is_the_same_whether_stepped_or_at_once() -> None:
    torch.manual_seed(4)
    module = LstmPolicy(9, 32, 5)
    observations = indigo_episode(np.random.default_rng(4))[:50]
    state = None
    stepped = []
    with torch.no_grad():
        for row in observations:
            outputs, state = module(torch.from_numpy(row)[None, None], state)
            stepped.append(outputs[0, 0].numpy())
    np.testing.assert_allclose(np.array(stepped), torch_outputs(module, observations), atol=1e-6)


def test_a_flow_starts_from_zero_state_every_time(tmp_path: Path) -> None:
    torch.manual_seed(5)
    path, spec = tmp_path / "policy.safetensors", PolicySpec("scale_free", "log_window")
    save_policy(path, LstmPolicy(30, 32, 1), spec, trained_on="nothing")
    policy = _core.InferencePolicy(str(path))
    for _ in range(2):  # the second flow finds nothing that the first has left in the network
        observations, acts, (at_first, later) = rolled_out(policy)
        assert not at_first.any()
        assert later.any()
        np.testing.assert_array_equal(acts, _core.evaluate_policy(str(path), observations)[:, 0])


def rolled_out(policy: _core.InferencePolicy) -> tuple[NDArray[np.float32], ...]:
    """The observations (T, I), acts (T) and states (2, S) of an LSTM of 32 units over an episode."""
    steps, sequence_decisions = 100, 50
    observations, acts = np.empty((1, steps, 30), np.float32), np.empty((1, steps), np.float32)
    states = np.full((1, steps // sequence_decisions, 64), np.nan, np.float32)
    _core.rollout(
        bottleneck(),
        policy,
        features="scale_free",
        actions="log_window",
        preference=0.5,
        seed=1,
        ideal_packets=np.full((1, 1000), 60.0),
        perturbed_acts=np.full((1, steps), np.nan, np.float32),
        observations=observations,
        acts=acts,
        labels=np.empty((1, steps), np.float32),
        states=states,
        sequence_decisions=sequence_decisions,
        ideal_step_ms=10.0,
        expert_acts=False,
    )
    return observations[0], acts[0], states[0]


def test_observations_of_another_width_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    save_policy(path, LstmPolicy(9, 32, 5), PolicySpec("indigo", "indigo"), trained_on="nothing")
    with pytest.raises(ValueError, match="observation has 8 entries, should have 9"):
        _core.evaluate_policy(str(path), np.zeros((3, 8), dtype=np.float32))


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
@pytest.mark.parametrize("memory", ["lstm", "gru", ""])
def test_stacks_of_layers_agree_over_random_episodes(tmp_path: Path, activation: str, memory: str) -> None:
    torch.manual_seed(3)
    recurrent: list[dict[str, Any]] = [{"kind": memory, "units": 12}] if memory else []
    plan: list[dict[str, Any]] = [
        {"kind": "linear", "units": 20},
        {"kind": "layer_norm"},
        {"kind": activation},
        *recurrent,
    ]
    module = StackPolicy(30, [*plan, {"kind": "linear", "units": 1}])
    observations = np.random.default_rng(1).normal(0, 1, (EPISODE_STEPS, 30)).astype(np.float32)
    file = tmp_path / "policy.safetensors"
    assert_parity(module, observations, file, PolicySpec("scale_free", "log_window", companion=True))
    again, spec = load_policy(file)
    assert spec.companion
    np.testing.assert_array_equal(torch_outputs(again, observations), torch_outputs(module, observations))


class Residual(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def initial_state(self, _flows: int) -> tuple[()]:
        return ()

    def step(self, observation: torch.Tensor, state: tuple[()]) -> tuple[torch.Tensor, tuple[()]]:
        return self.inner(observation) + observation, state


class Convolving(Residual):
    def __init__(self) -> None:
        super().__init__()
        self.more = torch.nn.Conv1d(1, 1, 1)


class Leaking(Residual):
    def __init__(self) -> None:
        super().__init__()
        self.more = torch.nn.LeakyReLU(0.3)


class Clamping(Residual):
    def step(self, observation: torch.Tensor, state: tuple[()]) -> tuple[torch.Tensor, tuple[()]]:
        return self.inner(observation.clamp(-5, 5)).clamp(-5, 5), state


class ClampingOne(Residual):
    def step(self, observation: torch.Tensor, state: tuple[()]) -> tuple[torch.Tensor, tuple[()]]:
        outputs = self.inner(observation)
        return torch.cat([outputs[:, :3], outputs[:, 3:].clamp(max=1e4)], dim=1), state


class Plain(Residual):
    def step(self, observation: torch.Tensor, state: tuple[()]) -> tuple[torch.Tensor, tuple[()]]:
        return self.inner(observation), state


class Frozen(Plain):
    def __init__(self) -> None:
        super().__init__()
        self.inner.bias.requires_grad_(False)


class Deep(torch.nn.Sequential):
    def __init__(self) -> None:
        super().__init__(*(torch.nn.Linear(4, 4) for _ in range(65)))

    def initial_state(self, _: int) -> tuple[()]:
        return ()

    def step(self, observation: torch.Tensor, state: tuple[()]) -> tuple[torch.Tensor, tuple[()]]:
        return self(observation), state


class Wide(Deep):
    def __init__(self) -> None:
        torch.nn.Sequential.__init__(self, torch.nn.Linear(4, 4097), torch.nn.Linear(4097, 4))


class Twice(Residual):
    def __init__(self) -> None:
        super().__init__()
        self.again = torch.nn.Linear(4, 4)
        self.again.weight = self.inner.weight

    def step(self, observation: torch.Tensor, state: tuple[()]) -> tuple[torch.Tensor, tuple[()]]:
        return self.again(self.inner(observation)), state


class Scaled(Plain):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))

    def step(self, observation: torch.Tensor, state: tuple[()]) -> tuple[torch.Tensor, tuple[()]]:
        return self.scale * self.inner(observation), state


class Cells(torch.nn.Module):
    """A stack, whose cells sum in another order than PyTorch's layers do."""

    def __init__(self, kind: type[torch.nn.LSTMCell | torch.nn.GRUCell]) -> None:
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(30, 32), torch.nn.ReLU())
        self.memory: Any = kind(32, 64)
        self.head = torch.nn.Linear(64, 5)

    def initial_state(self, flows: int) -> Any:
        zeros = torch.zeros(flows, 64)
        return (zeros, zeros) if isinstance(self.memory, torch.nn.LSTMCell) else zeros

    def step(self, observation: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        state = self.memory(self.inner(observation), state)
        return self.head(state[0] if isinstance(state, tuple) else state), state


@pytest.mark.parametrize("kind", [torch.nn.LSTMCell, torch.nn.GRUCell])
@pytest.mark.parametrize("seed", range(5))
def test_a_module_of_recurrent_cells_is_recognised_as_a_stack(kind: Any, seed: int) -> None:
    torch.manual_seed(seed)
    assert as_stack(Cells(kind), 30).plan[2]["units"] == 64


@pytest.mark.parametrize(
    ("network", "why"),
    [
        (Residual, "something else than to pass them"),
        (Convolving, "Conv1d"),
        (Leaking, "LeakyReLU"),
        (Clamping, "something else than to pass them"),
        (ClampingOne, "something else than to pass them"),
        (Frozen, "some of its parameters are frozen"),
        (Deep, "more than 64 layers"),
        (Wide, "more than 64 layers, or than 4096 units in one"),
        (Twice, "layers share their parameters"),
        (Scaled, "parameters beside those of its layers"),
    ],
)
def test_what_is_no_stack_is_refused_with_what_is_known(network: type[torch.nn.Module], why: str) -> None:
    with pytest.raises(UnknownLayersError, match=why) as caught:
        as_stack(network(), 4)
    assert "known are linear, lstm, gru, layer_norm, tanh, sigmoid, relu" in str(caught.value)
