"""Features of one's own over raw measurements: the native ones again, and those of a file."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.gym.own_features import AuroraFeatures, FeaturesObservation, ScaleFreeFeatures
from ccgym.envs.gym.path_env import PathEnv
from ccgym.envs.gym.vector_env import PathVectorEnv
from numpy.typing import NDArray

PATHS = [
    "calibrated/nepal",
    "calibrated/india",
    "synthetic/5mbps-10ms",
    "varying/markov",
    "random:train:12:3",
]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("aurora", AuroraFeatures), ("scale_free", ScaleFreeFeatures)],
    ids=["aurora", "scale_free"],
)
# To what float32 leaves of a difference of two round-trip times.
def test_features_in_python_are_the_native_ones(name: str, kind: Any) -> None:
    arguments: dict[str, Any] = {"emulator": PATHS, "actions": "log_window"}
    native = PathVectorEnv(16, features=name, **arguments)
    own = PathVectorEnv(16, features=kind, **arguments)
    assert own.single_observation_space.shape == native.single_observation_space.shape
    actions = np.random.default_rng(1).uniform(-1, 1, (400, 16, 1)).astype(np.float32)
    seen, right = own.reset(seed=3)[0], native.reset(seed=3)[0]
    for action in actions:
        np.testing.assert_allclose(seen, right, rtol=1e-4, atol=2e-4)
        seen, right = own.step(action)[0], native.step(action)[0]


def test_an_observation_wrapper_does_the_same() -> None:
    raw = gymnasium.make("ccgym/Path-v0", emulator="calibrated/nepal", features="raw", actions="rate")
    wrapped = FeaturesObservation(raw, AuroraFeatures)
    native = gymnasium.make("ccgym/Path-v0", emulator="calibrated/nepal", features="aurora", actions="rate")
    for _ in range(2):  # nothing is left of the first episode
        np.testing.assert_allclose(wrapped.reset(seed=1)[0], native.reset(seed=1)[0], rtol=1e-4, atol=2e-4)
        wrapped.action_space.seed(1)
        for _ in range(50):
            action = wrapped.action_space.sample()
            np.testing.assert_allclose(wrapped.step(action)[0], native.step(action)[0], rtol=1e-4, atol=2e-4)


def test_features_see_at_first_as_many_actions_as_there_are_later() -> None:
    shapes = []

    class Seeing(AuroraFeatures):
        def observe(self, raw: Any, action: Any) -> Any:
            shapes.append(action.shape)
            return super().observe(raw, action)

    for actions, size in (("indigo", 1), ("rate", 1), ("window_and_rate", 2)):
        shapes.clear()
        env = FeaturesObservation(PathEnv(features="raw", actions=actions), Seeing)
        env.reset(seed=1)
        env.step(env.action_space.sample())
        assert shapes == [(1, size)] * 2


def test_raw_features_are_what_info_tells() -> None:
    env = PathEnv(emulator="calibrated/nepal", features="raw", actions="window")
    env.reset(seed=2)
    for window in (12.0, 30.0, 5.0) * 20:
        observation, _, _, _, info = env.step(np.array([window], np.float32))
        assert env.observation_space.contains(observation)
        raw = dict(zip(_core.RAW_FEATURES, observation.tolist(), strict=True))
        assert raw["time_ms"] == pytest.approx(info["time_ms"])
        assert raw["window_packets"] == window == info["cwnd_packets"]
        assert raw["mean_rtt_ms"] == pytest.approx(info["delay_ms"], rel=1e-5)
        assert raw["acked_packets"] * 1500 * 8e-3 / raw["step_ms"] == pytest.approx(
            info["throughput_mbps"], rel=0.1
        )


OWN = """
import numpy as np

class Two:
    size = 2
    def __init__(self, flows):
        self.steps = np.zeros(flows)
    def observe(self, raw, action):
        self.steps += 1
        return np.stack([self.steps, raw["mean_rtt_ms"] / 100], axis=1)

class Wrong(Two):
    def observe(self, raw, action):
        return raw["mean_rtt_ms"]

class Nothing:
    pass
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two_seen.py").write_text(OWN)
    return "two_seen.py"


def test_a_file_of_ones_own_is_taken_by_name(own: str) -> None:
    envs = PathVectorEnv(3, features=f"{own}:Two", actions="rate")
    observations, _ = envs.reset(seed=1)
    assert observations[:, 0].tolist() == [1, 1, 1]
    observations = envs.step(np.zeros((3, 1), np.float32))[0]
    assert observations[:, 0].tolist() == [2, 2, 2]
    state = envs.save_state()
    later = [envs.step(np.ones((3, 1), np.float32))[0] for _ in range(5)]
    np.testing.assert_array_equal(envs.restore_state(state), observations)
    for right in later:
        np.testing.assert_array_equal(envs.step(np.ones((3, 1), np.float32))[0], right)
    assert envs.reset(seed=1)[0][:, 0].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("{own}:Nothing", "attribute size"),
        ("{own}:Tow", "did you mean Two"),
        ("gone.py:Two", "No such file"),
        ("no.such.module:Two", "No module named"),
        ("wide", "is unknown; known are aurora"),
    ],
)
def test_what_is_no_features_is_refused(own: str, name: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        PathEnv(features=name.format(own=own), actions="rate")


def test_features_of_another_shape_are_refused(own: str) -> None:
    env = PathEnv(features=f"{own}:Wrong", actions="rate")
    with pytest.raises(InputError, match=r"Wrong.observe gave shape \(1,\), should give finite numbers"):
        env.reset(seed=1)


@pytest.mark.parametrize("size", [0, True, 2.0, "2", 10**9])
def test_a_size_that_is_none_is_refused_before_it_takes_memory(size: Any) -> None:
    kind = type("Odd", (), {"size": size, "observe": lambda *_: None})
    with pytest.raises(InputError, match="attribute size, a whole number from 1 to 65536"):
        PathEnv(features=kind, actions="rate")


@pytest.mark.parametrize(("value", "complaint"), [(1j, "complex numbers"), ("1.0", "no numbers: <U3")])
def test_what_are_no_real_numbers_is_refused(value: Any, complaint: str) -> None:
    class Waves:
        size = 2

        def __init__(self, flows: int) -> None:
            self._flows = flows

        def observe(self, *_: Any) -> Any:
            return np.full((self._flows, 2), value)

    with pytest.raises(InputError, match=f"observe raised TypeError: {complaint}"):
        PathEnv(features=Waves, actions="rate").reset(seed=1)


def test_a_size_of_numpy_is_a_size_and_what_is_too_large_is_told() -> None:
    class Large:
        size = np.int64(2)

        def __init__(self, flows: int) -> None:
            self.flows = flows

        def observe(self, raw: Any, action: Any) -> NDArray[np.float64]:
            return np.full((self.flows, 2), 1e300)

    env = PathEnv(features=Large)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"observe gave numbers above float32, 3\.4e\+38, should"):
        env.reset(seed=1)
