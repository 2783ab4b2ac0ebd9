"""The Aurora that ships: what it reaches on links like those of its training, and that it can be repeated."""

import pytest
from ccgym.agents.policy_file import load_policy
from ccgym.agents.shipped import policy_path
from ccgym.envs import _core
from ccgym.envs.logs.flow_metrics import FlowMetrics, measure
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec, select_emulators
from ccgym.rl.config import RlConfig
from ccgym.training.config import config_file, load_config

SECONDS = 15.0
POLICY = policy_path("aurora")


def run(spec: EmulatorSpec) -> FlowMetrics:
    record = _core.simulate(spec.to_path(), f"policy:{POLICY}", seconds=SECONDS, seed=0)
    return measure(LinkLog.from_record(record, spec.uplink.schedule()), spec.delay_ms)


def link(rate_mbps: float, delay_ms: int, loss: float) -> EmulatorSpec:
    uplink = LinkSpec(rate_mbps=rate_mbps, queue="droptail", packets=60, loss=loss)
    return EmulatorSpec(name="unseen", delay_ms=delay_ms, uplink=uplink)


def test_aurora_fills_the_links_it_was_trained_on() -> None:
    used = {emulator.label: run(emulator.spec).utilisation for emulator in select_emulators("aurora")}
    assert min(used.values()) > 0.85, used


@pytest.mark.parametrize(("rate_mbps", "delay_ms"), [(1.3, 50), (3.4, 22), (5.8, 35)])
@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_random_loss_does_not_slow_aurora_down(rate_mbps: float, delay_ms: int, loss: float) -> None:
    assert run(link(rate_mbps, delay_ms, loss)).utilisation > 0.85


@pytest.mark.parametrize(("rate_mbps", "delay_ms"), [(0.6, 30), (24, 30), (96, 30), (4, 200)])
def test_aurora_does_not_starve_outside_the_range_of_its_training(rate_mbps: float, delay_ms: int) -> None:
    assert run(link(rate_mbps, delay_ms, 0.0)).utilisation > 0.5


def test_auroras_policy_file_says_how_it_was_trained() -> None:
    _, spec = load_policy(POLICY)
    config = load_config(config_file("aurora"), {}, RlConfig)
    assert (spec.feature_set, spec.actions) == (config.features, config.actions)
    assert spec.trained_on.startswith(
        f"ccgym train --config aurora --emulators {config.emulators} --seed {config.seed}, iteration "
    )
    assert POLICY.stat().st_size < 200_000
