"""What is monitored: windows beside the oracle's over time, curves beside those of fixed windows."""

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from ccgym.agents.mlp import MlpPolicy
from ccgym.agents.policy_file import save_policy
from ccgym.agents.policy_header import PolicySpec
from ccgym.agents.shipped import policy_path
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec, NamedEmulator, select_emulators
from ccgym.envs.specs.traffic_spec import FlowSpec
from ccgym.oracle.ideal import ideal_windows
from ccgym.training.runs.monitoring import trace_curves, trace_windows, window_metrics
from ccgym.training.runs.plots import draw_curves, draw_quality, draw_windows

SECONDS = 12.0
EVEN = EmulatorSpec(name="even", delay_ms=20, uplink=LinkSpec(rate_mbps=12.0, queue="droptail", packets=60))


@pytest.fixture
def executor() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


@pytest.fixture
def still_policy(tmp_path: Path) -> Path:
    """Its window stays at ten packets; its features hold no preference."""
    module = MlpPolicy(len(_core.POLICY_FEATURES["indigo"]), [], _core.POLICY_ACTIONS["indigo"])
    for parameter in module.parameters():
        torch.nn.init.zeros_(parameter)
    with torch.no_grad():
        module.get_parameter("layers.0.bias")[2] = 1
    save_policy(tmp_path / "still.safetensors", module, PolicySpec("indigo", "indigo"), trained_on="nothing")
    return tmp_path / "still.safetensors"


def test_a_window_stands_beside_the_oracles_of_the_same_moment(
    still_policy: Path, executor: Executor
) -> None:
    emulators = select_emulators("varying/rate-steps")
    (trace,) = trace_windows(still_policy, emulators, SECONDS, executor)
    assert (trace.policys == 10).all()
    ideal = ideal_windows(emulators[0].spec, 0.5, round(SECONDS * 100))
    np.testing.assert_array_equal(trace.oracles[:-1], ideal[1:])
    assert np.median(trace.oracles[trace.seconds < 10]) > 1.8 * np.median(trace.oracles[trace.seconds > 11])
    assert trace.distance == pytest.approx(np.mean(np.log(trace.oracles / 10)))
    assert window_metrics([trace]) == {"window_distance/varying/rate-steps": trace.distance}


def test_flows_that_share_have_fair_shares_while_they_are_there(
    still_policy: Path, executor: Executor
) -> None:
    first, second, third = trace_windows(
        still_policy, select_emulators("shared/three-flows"), SECONDS, executor
    )
    assert second.seconds[0] == pytest.approx(5, abs=0.02)
    assert third.seconds[0] == pytest.approx(10, abs=0.02)
    alone, two, three = (first.oracles[np.searchsorted(first.seconds, at_s)] for at_s in (4, 9, 11))
    assert alone > 1.6 * two > 1.6 * 1.2 * three
    assert third.oracles[-1] == three
    assert len(window_metrics([first, second, third])) == 1


def test_another_scheme_on_the_link_is_no_flow_of_the_policy(still_policy: Path, executor: Executor) -> None:
    spec = EVEN.model_copy(update={"flows": (FlowSpec(scheme="cubic"), FlowSpec(start_s=1.0))})
    (trace,) = trace_windows(still_policy, [NamedEmulator("own/contested", spec)], 3.0, executor)
    (alone,) = trace_windows(still_policy, [NamedEmulator("own/even", EVEN)], 3.0, executor)
    assert trace.seconds[0] == pytest.approx(1, abs=0.02)
    assert trace.oracles[-1] != alone.oracles[-1]


def test_curves_of_the_preference_and_of_fixed_windows_rise(executor: Executor) -> None:
    emulators = [NamedEmulator("own/even", EVEN), *select_emulators("shared/three-flows")]
    (curves,) = trace_curves(policy_path("indigo2"), emulators, (0.2, 0.9), SECONDS, executor)
    assert curves.emulator == "own/even", "of a shared link there is no curve"
    delays, throughputs = zip(*curves.fixed, strict=True)
    assert list(delays) == sorted(delays)
    assert throughputs[-1] == pytest.approx(12, rel=0.02)
    (low_ms, low_mbps), (high_ms, high_mbps) = curves.preference
    assert low_ms < high_ms
    assert low_mbps <= high_mbps


def test_a_policy_without_a_preference_is_a_point(still_policy: Path, executor: Executor) -> None:
    (curves,) = trace_curves(still_policy, [NamedEmulator("own/even", EVEN)], (0.5,), SECONDS, executor)
    assert len(curves.preference) == 1
    assert len(curves.fixed) > 3


def test_pictures_show_every_emulator_and_flow(still_policy: Path, executor: Executor) -> None:
    emulators = select_emulators("varying/rate-steps,shared/three-flows")
    windows = draw_windows("title", trace_windows(still_policy, emulators, SECONDS, executor))
    assert [axes.get_title() for axes in windows.axes] == ["varying/rate-steps", "shared/three-flows"]
    assert [len(axes.lines) for axes in windows.axes] == [2, 6]
    curves = draw_curves("title", trace_curves(still_policy, emulators, (0.5,), SECONDS, executor))
    assert [axes.get_title() for axes in curves.axes] == ["varying/rate-steps"]


def test_quality_is_drawn_by_the_minute_with_the_best_so_far() -> None:
    now, best = draw_quality("title", "validation/regret", [(60, 0.5), (120, 0.2), (180, 0.3)]).axes[0].lines
    assert list(np.asarray(now.get_xdata())) == [1, 2, 3]
    assert list(np.asarray(best.get_ydata())) == [0.5, 0.2, 0.2]
