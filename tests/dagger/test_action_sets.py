"""Labels: the act whose outcome lies nearest to the ideal window; losses: least at the label."""

import math

import numpy as np
import pytest
import torch
from ccgym.dagger.action_sets import ACTION_SETS
from ccgym.envs import _core


@pytest.mark.parametrize(
    ("cwnd", "ideal", "label"),
    [
        (20, 10, 0),  # /2 and -10 both reach 10: the lower class
        (30, 19, 1),
        (40, 41, 2),
        (40, 48, 3),
        (40, 75, 4),
        (10, 20, 3),  # +10 and *2 both reach 20
        (2, 2, 2),
        (15, 5, 1),  # -10 reaches 5, /2 only 7.5: windows below the minimum are not clamped here
    ],
)
def test_indigo_label_is_the_nearest_class(cwnd: float, ideal: float, label: int) -> None:
    assert _core.expert_act("indigo", cwnd, ideal) == label


@pytest.mark.parametrize(("cwnd", "reached"), [(20, 49.5), (50, 49.5), (200, 200 / math.e), (1, math.e)])
def test_log_window_label_leads_to_the_ideal_window_within_one_step_of_e(cwnd: float, reached: float) -> None:
    assert cwnd * math.exp(_core.expert_act("log_window", cwnd, 50)) == pytest.approx(reached, rel=1e-6)


def test_an_action_set_without_an_expert_is_refused() -> None:
    with pytest.raises(ValueError, match="rate"):
        _core.expert_act("rate", 10, 20)


@pytest.mark.parametrize("name", ACTION_SETS)
def test_loss_is_least_at_the_label(name: str) -> None:
    actions = ACTION_SETS[name]
    labels = torch.tensor([[0.0, 1.0]])
    right = (
        torch.nn.functional.one_hot(labels.long(), 5).float() * 9 if name == "indigo" else labels[..., None]
    )
    assert actions.loss(right, labels) < actions.loss(right.flip(1), labels)


@pytest.mark.parametrize("name", ACTION_SETS)
def test_what_was_not_decided_counts_for_nothing(name: str) -> None:
    actions = ACTION_SETS[name]
    outputs = torch.randn(1, 3, actions.outputs, generator=torch.Generator().manual_seed(1))
    some = torch.tensor([[1.0, float("nan"), 0.0]])
    assert actions.loss(outputs, some) == pytest.approx(float(actions.loss(outputs[:, ::2], some[:, ::2])))
    assert not actions.agree(np.zeros(1, np.float32), np.full(1, np.nan, np.float32)).any()


def test_network_width_is_the_controllers() -> None:
    assert {name: actions.outputs for name, actions in ACTION_SETS.items()} == {
        name: _core.POLICY_ACTIONS[name] for name in ACTION_SETS
    }


@pytest.mark.parametrize("name", ACTION_SETS)
def test_where_nothing_was_decided_nothing_is_lost(name: str) -> None:
    actions = ACTION_SETS[name]
    outputs = torch.zeros(2, 3, actions.outputs, requires_grad=True)
    loss = actions.loss(outputs, torch.full((2, 3), math.nan))
    (gradient,) = torch.autograd.grad(loss, outputs)
    assert loss == 0
    assert torch.isfinite(gradient).all()
