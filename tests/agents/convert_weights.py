"""Turns bare PyTorch weights, such as the original Indigo's, into a policy file.

    python tests/agents/convert_weights.py WEIGHTS POLICY

WEIGHTS is a safetensors file with the tensors of an `LstmPolicy` and any metadata; its inputs and outputs are
taken for Indigo's (`feature_set` and `actions` "indigo"). What the original does, run by our features
and endpoint, proves those right.
"""

import sys
from pathlib import Path

from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.policy_file import save_policy
from ccgym.agents.policy_header import PolicySpec
from safetensors.torch import load_file


def convert_weights(weights: Path, policy: Path) -> None:
    """Writes the policy file `policy` from the tensors in `weights`."""
    tensors = load_file(weights)
    outputs, hidden = tensors["linear.weight"].shape
    module = LstmPolicy(tensors["lstm.weight_ih_l0"].shape[1], hidden, outputs)
    module.load_state_dict(tensors)
    save_policy(policy, module, PolicySpec("indigo", "indigo"), trained_on=f"converted from {weights.name}")


if __name__ == "__main__":
    convert_weights(Path(sys.argv[1]), Path(sys.argv[2]))
