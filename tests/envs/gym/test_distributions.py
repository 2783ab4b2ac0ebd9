"""An environment that draws a path per episode, on its seed."""

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.gym.path_env import PathEnv
from ccgym.envs.gym.vector_env import PathVectorEnv
from ccgym.envs.specs.distributions import draw, sources_of
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.link_spec import LinkSpec
from ccgym.envs.specs.splits import Split
from numpy.typing import NDArray

STAY = 2
Bits = tuple[str, bytes]


def fast_or_slow(rng: np.random.Generator) -> EmulatorSpec:
    rate_mbps = float(rng.choice([2.0, 50.0]))
    return EmulatorSpec(name=f"{rate_mbps:g}", delay_ms=20, uplink=LinkSpec(rate_mbps=rate_mbps))


MIX = {"random:train": 0.5, "synthetic": 0.25, fast_or_slow: 0.25}
DISTRIBUTIONS: list[Any] = ["random:train", fast_or_slow, MIX]


def measured(env: PathEnv, seed: int | None) -> Bits:
    first, _ = env.reset(seed=seed)
    seen = [first] + [env.step(STAY)[0] for _ in range(20)]
    return env._engine.specs[0].name, np.array(seen).tobytes()


@pytest.mark.parametrize("emulator", DISTRIBUTIONS)
def test_every_episode_has_a_path_of_its_own_on_seed(emulator: Any) -> None:
    env = PathEnv(emulator=emulator)
    episodes = [measured(env, 5)] + [measured(env, None) for _ in range(7)]
    again = PathEnv(emulator=emulator)
    assert [measured(again, 5)] + [measured(again, None) for _ in range(7)] == episodes
    assert len({name for name, _ in episodes}) > 1
    envs = PathVectorEnv(4, 20, emulator=emulator)
    for index in range(4):
        assert (
            envs.reset(seed=2)[0][index].tobytes()
            == PathEnv(emulator=emulator).reset(seed=2 + index)[0].tobytes()
        )


def test_the_draw_is_that_of_the_split() -> None:
    drawn = draw(sources_of("random:validation")[0], np.random.default_rng(3))
    assert drawn.name.endswith("-0")
    assert drawn != draw(sources_of("random:train")[0], np.random.default_rng(3))
    assert sources_of("random")[0] == sources_of(f"random:{Split.TEST.value}")[0]


def test_a_mix_is_drawn_by_its_weights() -> None:
    source = sources_of({"synthetic/5mbps-10ms": 3, "synthetic/200mbps-80ms": 1})[0]
    rng = np.random.default_rng(1)
    names = Counter(draw(source, rng).name for _ in range(2000))
    assert names["5mbps-10ms"] == pytest.approx(1500, abs=80)


def test_power_is_a_share_of_the_path_that_was_drawn() -> None:
    env = PathEnv(emulator=fast_or_slow, actions="window", features="raw", reward="power")
    for _ in range(6):
        env.reset(seed=None)
        rate_mbps = float(env._engine.specs[0].name)
        bdp_packets = rate_mbps * 40 / 12
        rewards = [env.step(np.array([bdp_packets + 2], np.float32))[1] for _ in range(100)]
        assert 0.6 < np.mean(rewards[20:]) <= 1.05


def test_reset_takes_another_emulator() -> None:
    env = gymnasium.make("ccgym/Path-v0", emulator="random:train")
    first, _ = env.reset(seed=1, options={"emulator": "calibrated/nepal"})
    right, _ = gymnasium.make("ccgym/Path-v0", emulator="calibrated/nepal").reset(seed=1)
    np.testing.assert_array_equal(first, right)
    with pytest.raises(InputError, match="unknown emulator 'nowhere'"):
        env.reset(options={"emulator": "nowhere"})


@pytest.mark.parametrize("pickled", [False, True])
def test_a_state_goes_back_to_the_path_that_was_drawn(pickled: bool) -> None:
    env, other = PathEnv(emulator="random:train"), PathEnv(emulator="random:train")
    env.reset(seed=1)
    env.reset()
    for _ in range(10):
        env.step(STAY)
    state = env.save_state()
    rest = [env.step(3)[:2] for _ in range(30)]
    if pickled:
        state = pickle.loads(pickle.dumps(state))
    other.restore_state(state)
    for observation, reward in rest:
        again = other.step(3)
        assert (again[0].tobytes(), again[1]) == (observation.tobytes(), reward)


def test_a_distribution_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec\n"
        "def links(rng):\n"
        "    rate = float(rng.uniform(1, 100))\n"
        "    return EmulatorSpec(name='mine', delay_ms=20, uplink=LinkSpec(rate_mbps=rate))\n"
        "def wrong(rng):\n"
        "    return 7\n"
    )
    envs = PathVectorEnv(3, emulator="mine.py:links")
    observations: NDArray[np.float32] = envs.reset(seed=1)[0]
    assert len({row.tobytes() for row in observations}) == 3
    with pytest.raises(InputError, match="gave '7', should give an EmulatorSpec"):
        PathEnv(emulator="mine.py:wrong")


@pytest.mark.parametrize(
    ("emulator", "complaint"),
    [
        ({"random:train": -1}, "weight -1 is not a number above 0"),
        ({}, "an empty mix"),
        (7, "'7' is no name, spec, distribution"),
        ("random:tarin", "random:tarin: not random:N"),
        ("shared/three-flows", "three-flows has 3 flows that learn, this environment has one"),
    ],
)
def test_what_is_no_emulator_is_refused_in_one_line(emulator: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        gymnasium.make("ccgym/Path-v0", emulator=emulator)
    assert "\n" not in str(caught.value)


def test_numbers_of_numpy_are_taken_as_they_are_drawn() -> None:
    def drawn(rng: np.random.Generator) -> EmulatorSpec:
        link = LinkSpec(rate_mbps=rng.uniform(1, 5), queue="droptail", packets=rng.integers(10, 20))  # type: ignore[arg-type]
        return EmulatorSpec(name="drawn", delay_ms=rng.integers(5, 60), uplink=link)  # type: ignore[arg-type]

    spec = draw(drawn, np.random.default_rng(1))
    assert EmulatorSpec.model_validate_json(spec.model_dump_json()) == spec


def test_what_a_distribution_does_wrong_is_told_as_of_a_file_and_with_its_place() -> None:
    def late(_: np.random.Generator) -> EmulatorSpec:
        return EmulatorSpec(name="late", delay_ms=-5, uplink=LinkSpec(rate_mbps=3))

    def misspelt(_: np.random.Generator) -> EmulatorSpec:
        return EmulatorSpec(name="m", delay_ms=5, uplink=LinkSpec(rate_mpbs=3))  # type: ignore[call-arg]

    def misdrawn(rng: np.random.Generator) -> EmulatorSpec:
        return fast_or_slow(rng.choice(["a"]))

    for wrong, complaint in [
        (late, r"the distribution: EmulatorSpec: delay_ms: -5.0 is not within \[0, "),
        (misspelt, "the distribution: LinkSpec: rate_mpbs: unknown key; .*did you mean rate_mbps"),
        (misdrawn, r"raised AttributeError: .* \(test_distributions.py, line 2[0-9]\)"),
        (dict, r"should give an EmulatorSpec$|raised TypeError: [^(]*$"),
    ]:
        with pytest.raises(InputError, match=complaint):
            draw(wrong, np.random.default_rng(1))  # type: ignore[arg-type]
