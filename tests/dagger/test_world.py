"""The world of a training run: varied emulators keep their character, environments are dealt out evenly."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from ccgym.dagger.config import Stalls, TrainingConfig
from ccgym.dagger.world import World, draw_stalls, redraw_poisson, vary
from ccgym.envs.emulators import EmulatorSpec, LinkSpec

TinyConfig = Callable[..., TrainingConfig]

POLICED = EmulatorSpec(
    name="policed", delay_ms=40, uplink=LinkSpec(rate_mbps=10.0, queue="droptail", packets=70, loss=0.01)
)


def test_variations_stay_within_the_factor_and_keep_loss_and_queue_in_bdps(tiny_config: TinyConfig) -> None:
    varied = vary(tiny_config(variations=50, variation=0.5), [POLICED])
    rates = np.array([spec.uplink.rate_mbps for spec in varied])
    delays = np.array([spec.delay_ms for spec in varied])
    queues = np.array([spec.uplink.packets for spec in varied])
    assert len(varied) == 50
    assert (np.abs(np.log(rates / 10)) <= 0.5).all()
    assert (np.abs(np.log(delays / 40)) <= 0.52).all(), "delays are whole ms"
    assert len(set(rates)) == 50
    np.testing.assert_allclose(queues / (rates * delays), 70 / 400, rtol=0.05)
    assert {spec.uplink.loss for spec in varied} == {0.01}
    assert [spec.downlink.rate_mbps for spec in varied] == rates.tolist()


def test_same_seed_varies_alike(tiny_config: TinyConfig) -> None:
    config = tiny_config(variations=3, variation=0.3)
    assert vary(config, [POLICED]) == vary(config, [POLICED])
    assert vary(config, [POLICED]) != vary(tiny_config(variations=3, variation=0.3, seed=9), [POLICED])


def test_rate_of_a_trace_is_left_alone(tiny_config: TinyConfig, tmp_path: Path) -> None:
    trace = tmp_path / "link.trace"
    trace.write_text("1\n2\n")
    spec = EmulatorSpec(
        name="traced", delay_ms=50, uplink=LinkSpec(trace=trace, queue="droptail", packets=100)
    )
    for varied in vary(tiny_config(variations=5, variation=0.5), [spec]):
        assert varied.uplink.rate_mbps is None
        assert varied.uplink.packets == round(100 * varied.delay_ms / 50)


def test_deal_gives_every_emulator_as_many_environments(tiny_config: TinyConfig) -> None:
    config = tiny_config(environments=12)
    world = World([POLICED] * 4, np.ones(4))
    first, second = world.deal(config, 1), world.deal(config, 2)
    assert np.bincount(first).tolist() == [3, 3, 3, 3]
    assert first.tolist() != second.tolist()
    np.testing.assert_array_equal(first, world.deal(config, 1))


def test_more_emulators_than_environments_all_get_their_turn(tiny_config: TinyConfig) -> None:
    config = tiny_config(environments=5)
    world = World([POLICED] * 20, np.ones(20))
    met = {number for iteration in range(40) for number in world.deal(config, iteration).tolist()}
    assert met == set(range(20))


def test_stalls_are_drawn_within_their_bounds() -> None:
    stalls = Stalls(share=0.5, max_probability=0.1, max_ms=4)
    generator = np.random.default_rng(1)
    drawn = [draw_stalls(stalls, generator) for _ in range(400)]
    stalling = [(probability, max_ms) for probability, max_ms in drawn if probability > 0]
    assert 150 < len(stalling) < 250
    assert {max_ms for _, max_ms in stalling} == {1, 2, 3, 4}
    assert max(probability for probability, _ in stalling) <= 0.1


def test_poisson_arrivals_are_drawn_anew_on_both_links_alike() -> None:
    spec = EmulatorSpec(name="link", delay_ms=5, uplink=LinkSpec(rate_mbps=2.0, arrivals="poisson", seed=1))
    redrawn = redraw_poisson(spec, np.random.default_rng(1))
    assert redrawn.uplink.seed == redrawn.downlink.seed != 1
    assert redraw_poisson(POLICED, np.random.default_rng(1)) == POLICED
