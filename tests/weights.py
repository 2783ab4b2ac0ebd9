"""The weights of networks, to the bit."""

from collections.abc import Mapping

import torch

Weights = Mapping[str, torch.Tensor]


def assert_same_weights(ours: Weights, theirs: Weights) -> None:
    """Of the same tensors, each the same."""
    assert ours.keys() == theirs.keys()
    assert ours
    for name, tensor in ours.items():
        assert torch.equal(tensor, theirs[name]), name
