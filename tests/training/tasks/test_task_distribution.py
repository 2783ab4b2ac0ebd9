"""The tasks of a training run: varied emulators keep their character, runs are drawn evenly."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.specs.digest import spec_digest
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.training.config import HostJitter, TrainingConfig
from ccgym.training.tasks.sharing import draw_sharing
from ccgym.training.tasks.task_distribution import (
    TaskDistribution,
    draw_host_jitter,
    training_tasks,
    validation_tasks,
    vary,
)

TinyConfig = Callable[..., TrainingConfig]

POLICED = EmulatorSpec(
    name="policed", delay_ms=40, uplink=LinkSpec(rate_mbps=10.0, queue="droptail", packets=70, loss=0.01)
)


def numbered(count: int) -> list[EmulatorSpec]:
    return [POLICED.model_copy(update={"name": f"n{number}"}) for number in range(count)]


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


def test_sampling_gives_every_group_its_share_and_every_emulator_as_many_runs(
    tiny_config: TinyConfig,
) -> None:
    tasks = TaskDistribution({"a": numbered(4), "b": numbered(2)}, {"a": 2.0, "b": 1.0})
    config = tiny_config(environments=12)
    first, second = tasks.sample(config, 1), tasks.sample(config, 2)
    assert Counter(group for group, _ in first) == {"a": 8, "b": 4}
    assert set(Counter(spec.name for group, spec in first if group == "a").values()) == {2}
    assert first != second
    assert first == tasks.sample(config, 1)


def test_more_emulators_than_runs_all_get_their_turn(tiny_config: TinyConfig) -> None:
    tasks = TaskDistribution({"a": numbered(20)}, {"a": 1.0})
    sampled = [
        spec.name
        for iteration in range(8)
        for _, spec in tasks.sample(tiny_config(environments=5), iteration)
    ]
    assert set(Counter(sampled).values()) == {2}


def test_emulators_to_validate_on_are_not_trained_on(tiny_config: TinyConfig) -> None:
    config = tiny_config(random_emulators=50, environments=20)
    trained = {spec_digest(spec) for spec in training_tasks(config, [POLICED]).groups["random"]}
    validated = {spec_digest(spec) for spec in validation_tasks(config).groups["random"]}
    assert (len(trained), len(validated), trained & validated) == (50, 20, set())


def test_stalls_are_drawn_within_their_bounds() -> None:
    stalls = HostJitter(share=0.5, max_probability=0.1, max_ms=4)
    generator = np.random.default_rng(1)
    drawn = [draw_host_jitter(stalls, generator) for _ in range(400)]
    drawn_stalls = [(probability, max_ms) for probability, max_ms in drawn if probability > 0]
    assert 150 < len(drawn_stalls) < 250
    assert {max_ms for _, max_ms in drawn_stalls} == {1, 2, 3, 4}
    assert max(probability for probability, _ in drawn_stalls) <= 0.1


def test_flows_that_share_get_the_same_rate_whoever_is_there() -> None:
    spec = EmulatorSpec(name="link", delay_ms=20, uplink=LinkSpec(rate_mbps=40.0))
    sharing = draw_sharing(5, spec, 5.0, np.random.default_rng(3))
    assert sharing.rival is None
    windows = sharing.ideal_windows(spec, 0.5, 500)
    assert windows.shape == (5, 500)
    assert len(sharing.flows()) == 5
    now_s = 2.8
    round_trips_ms = 2 * (spec.delay_ms + sharing.extra_delay_ms)
    present = int(((sharing.start_s <= now_s) & (sharing.stop_s > now_s)).sum())
    share = 40 / 12 * 1504 / 1468 / present
    queues_ms = windows[:, 280] / share - round_trips_ms
    np.testing.assert_allclose(queues_ms, queues_ms[0])
    assert 4 < queues_ms[0] < 15


def test_a_curriculum_lets_the_smallest_bdps_in_first(tiny_config: TinyConfig) -> None:
    config = tiny_config(environments=6, curriculum_iterations=3)
    tasks = training_tasks(
        config, [POLICED.model_copy(update={"delay_ms": delay}) for delay in (60, 10, 40, 20, 50, 30)]
    )
    measured = [sorted({float(spec.delay_ms) for _, spec in tasks.sample(config, i)}) for i in range(5)]
    assert measured == [[10, 20], [10, 20, 30, 40]] + 3 * [[10, 20, 30, 40, 50, 60]]


def test_without_a_curriculum_all_are_there_in_their_order(tiny_config: TinyConfig) -> None:
    specs = [POLICED.model_copy(update={"delay_ms": delay}) for delay in (60, 10, 40)]
    assert training_tasks(tiny_config(), specs).groups["named"] == specs


def test_validation_has_no_curriculum(tiny_config: TinyConfig) -> None:
    config = tiny_config(environments=8, random_emulators=8, curriculum_iterations=4)
    assert len({spec.name for _, spec in validation_tasks(config).sample(config, 0)}) == 8


def test_a_link_that_lets_nothing_through_is_refused_before_the_training(tiny_config: TinyConfig) -> None:
    dead = EmulatorSpec(name="dead", delay_ms=5, uplink=LinkSpec(rate_mbps=0.0002))
    with pytest.raises(InputError, match="dead: next to nothing comes through in 4 s"):
        training_tasks(tiny_config(), [POLICED, dead])


def test_links_of_ones_own_that_the_oracle_does_not_know_are_refused(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(
        "from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec\n"
        "def links(rng):\n"
        "    traffic = [{'kind': 'onoff', 'rate_mbps': 1, 'mean_on_s': 1, 'mean_off_s': 2}]\n"
        "    link = LinkSpec(rate_mbps=5)\n"
        "    return EmulatorSpec(name='mine', delay_ms=9, uplink=link, cross_traffic=traffic)\n"
    )
    config = tiny_config(links=f"{tmp_path / 'mine.py'}:links", random_emulators=2)
    with pytest.raises(InputError, match="mine: cross_traffic: the oracle's labels do not"):
        training_tasks(config, [])
