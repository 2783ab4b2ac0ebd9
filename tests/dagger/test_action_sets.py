"""Labels: the act whose outcome lies nearest to the ideal window."""

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
    assert ACTION_SETS["indigo"].label(np.array([cwnd], float), np.array([ideal], float)) == [label]


def test_log_window_label_leads_to_the_ideal_window_within_one_step_of_e() -> None:
    cwnd = np.array([20.0, 50.0, 200.0, 1.0])
    reached = cwnd * np.exp(ACTION_SETS["log_window"].label(cwnd, np.full(4, 50.0)))
    np.testing.assert_allclose(reached, [49.5, 49.5, 200 / np.e, np.e], rtol=1e-6)
    assert np.ceil(reached[:2]).tolist() == [50, 50], "the sender rounds up"


@pytest.mark.parametrize("name", ACTION_SETS)
def test_loss_is_least_at_the_label(name: str) -> None:
    actions = ACTION_SETS[name]
    labels = torch.tensor([[0.0, 1.0]])
    right = (
        torch.nn.functional.one_hot(labels.long(), 5).float() * 9 if name == "indigo" else labels[..., None]
    )
    assert actions.loss(right, labels) < actions.loss(right.flip(1), labels)
    assert actions.agree(actions.act(right), labels.numpy()).all()


def test_network_width_is_the_controllers() -> None:
    for name, actions in ACTION_SETS.items():
        assert actions.outputs == _core.POLICY_ACTIONS[name]
