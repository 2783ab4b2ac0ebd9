"""The path of an episode is the draw of its emulator, however it was come by."""

import pytest
from ccgym.envs import _core
from ccgym.envs.gym.engine.episode_paths import EpisodePaths
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec


@pytest.mark.parametrize(
    ("uplink", "once"),
    [
        ({"rate_mbps": 7.3}, False),
        ({"rate_mbps": 7.3, "begin_s": 4.0}, False),
        ({"rate_mbps": 6.0, "arrivals": "poisson"}, False),
        ({"rate_mbps": 6.0, "arrivals": "poisson", "seed": 3}, False),
        ({"rate_mbps": 6.0, "rate_steps": ({"at_s": 1, "rate_mbps": 3.0},)}, False),
        ({"trace": "TRACE"}, True),
    ],
)
def test_a_path_is_the_draw_of_its_seed(
    uplink: dict[str, object], once: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if "trace" in uplink:
        trace = tmp_path_factory.mktemp("trace") / "link.trace"
        trace.write_text("".join(f"{at}\n" for at in range(1, 4000, 7)), encoding="ascii")
        uplink = {"trace": trace}
    spec = EmulatorSpec(name="path", delay_ms=20, once=once, uplink=LinkSpec.model_validate(uplink))
    paths = EpisodePaths(spec, [])
    for seed in (1, 2, 1):
        measured, expected = (
            _core.simulate(path, "fixed:30", seconds=3, seed=seed).departure_ms
            for path in (paths.path(seed), spec.drawn(seed).to_path())
        )
        assert list(measured) == list(expected)
