"""Rollouts: a policy beside the oracle's window on the same path."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.policy_file import save_policy
from ccgym.agents.policy_header import PolicySpec
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec
from ccgym.envs.specs.emulators import select_emulators
from ccgym.training.rollouts import (
    Rollout,
    make_rollouts,
    mean_regret,
    rollout_metrics,
    run_as_drawn,
    summarise_groups,
)
from ccgym.training.runs.plots import draw_rollouts

INDIGO_ACTS = ("halve", "less", "stay", "more", "double")
SLOWER = Rollout("group/slower", 9.0, 40.0, 10.0, 40.0)
LATER = Rollout("group/later", 11.0, 60.0, 10.0, 40.0)


def test_regret_is_missing_throughput_plus_excess_delay() -> None:
    assert SLOWER.regret == pytest.approx(0.1)
    assert LATER.regret == pytest.approx(0.5), "more throughput does not pay for delay"
    assert mean_regret([SLOWER, LATER]) == pytest.approx(0.3)


def test_a_link_that_nothing_leaves_is_named() -> None:
    spec = EmulatorSpec(name="still", delay_ms=10, uplink=LinkSpec(rate_mbps=0.001))
    with pytest.raises(InputError, match=r"^still: no flow to measure.* in 1 s: leave the link out"):
        run_as_drawn(spec, "copa", 1.0)


def test_metrics_carry_every_emulator() -> None:
    metrics = rollout_metrics([SLOWER, LATER])
    assert metrics["throughput_mbps/group/slower"] == 9
    assert metrics["relative_delay/group/later"] == pytest.approx(1.5)


def test_summary_has_a_line_per_group() -> None:
    other = Rollout("other/exact", 10.0, 40.0, 10.0, 40.0)
    assert summarise_groups(rollout_metrics([SLOWER, LATER, other])) == [
        "group (2): 1.000 (worst 0.900) of the oracle's throughput at 1.250 (worst 1.500) x its p95 delay",
        "other (1): 1.000 (worst 1.000) of the oracle's throughput at 1.000 (worst 1.000) x its p95 delay",
    ]


def test_policy_that_never_moves_its_window_reaches_what_ten_packets_reach(tmp_path: Path) -> None:
    policy = LstmPolicy(len(_core.POLICY_FEATURES["indigo"]), 4, len(INDIGO_ACTS))
    for parameter in policy.parameters():
        torch.nn.init.zeros_(parameter)
    with torch.no_grad():
        policy.linear.bias[INDIGO_ACTS.index("stay")] = 1
    save_policy(tmp_path / "still.safetensors", policy, PolicySpec("indigo", "indigo"), trained_on="nothing")
    emulators = select_emulators("synthetic/10mbps-40ms")
    with ThreadPoolExecutor(1) as executor:
        still, stalled = (
            make_rollouts(
                tmp_path / "still.safetensors", emulators, np.array([72.0]), 10, executor, jitter=jitter
            )[0]
            for jitter in (False, True)
        )
    # Ten packets of 1464 bytes per round trip of 80 ms and a few ms at the links.
    assert still.throughput_mbps == pytest.approx(10 * 1464 * 8 / 82e3, rel=0.03)
    assert still.oracle_throughput_mbps == pytest.approx(10, rel=0.01)
    assert stalled.throughput_mbps < still.throughput_mbps


def test_picture_shows_every_group_and_the_oracle() -> None:
    figure = draw_rollouts("title", [SLOWER, LATER])
    axes = figure.axes[0]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["group", "oracle window"]
    assert axes.xaxis_inverted()
