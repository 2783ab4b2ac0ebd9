"""`policy.safetensors`: a policy's tensors, and a metadata entry `ccgym` that says how to run them.

Only the C++ controller decides whether a policy file is valid: what it refuses is neither written nor loaded.
"""

import json
import subprocess
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from ccgym.envs import _core  # only the C++ core, no Python of a higher layer
from ccgym.envs.errors import excerpt
from ccgym.envs.outside_files import replaced
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from .lstm import LstmPolicy
from .mlp import MlpPolicy
from .policy_header import PolicyFileError, PolicySpec, check_policy, read_header
from .seen_links import SeenLinks
from .stack import StackPolicy

FORMAT_VERSION = 1

PolicyModule = LstmPolicy | MlpPolicy | StackPolicy


def save_policy(
    path: Path, module: PolicyModule, spec: PolicySpec, *, trained_on: str, seen: SeenLinks | None = None
) -> None:
    """Writes `module` as a policy file; an older file is replaced as a whole or not at all.

    Args:
        path: path of the file.
        module: the network.
        spec: how the policy is run.
        trained_on: how the policy was trained.
        seen: the links of its training and validation; None: the file does not say.

    Raises:
        PolicyFileError: the C++ controller would refuse the file.
    """
    metadata = _metadata(module, replace(spec, trained_on=trained_on, git=git_revision()))
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    links = {} if seen is None else seen.as_metadata()
    with replaced(path) as unchecked:
        unchecked.write_bytes(save(tensors, {"ccgym": json.dumps(metadata), **links}))
        check_policy(unchecked)


def load_policy(path: Path) -> tuple[PolicyModule, PolicySpec]:
    """Reads a policy file: the module, on the CPU, and how it is run.

    Raises:
        PolicyFileError: the C++ controller refuses the file, or the format's own reader does.
    """
    architecture, spec = read_header(path)
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (SafetensorError, ValueError) as error:
        raise PolicyFileError(f"{excerpt(path)}: not in the format: {excerpt(error)}") from None
    module = _module(architecture)
    module.load_state_dict(tensors)
    return module, spec


def _module(architecture: dict[str, Any]) -> PolicyModule:
    if architecture["kind"] == "stack":
        return StackPolicy(architecture["inputs"], architecture["layers"])
    kind = LstmPolicy if architecture["kind"] == "lstm" else MlpPolicy
    return kind(architecture["inputs"], architecture["hidden"], architecture["outputs"])


def _architecture(module: PolicyModule) -> dict[str, Any]:
    if isinstance(module, StackPolicy):
        return {"kind": "stack", "inputs": module.inputs, "layers": module.plan, "outputs": module.outputs}
    if isinstance(module, LstmPolicy):
        lstm, outputs = module.lstm, module.linear.out_features
        return {"kind": "lstm", "inputs": lstm.input_size, "hidden": lstm.hidden_size, "outputs": outputs}
    first, last = module.layers[0], module.layers[-1]
    return {
        "kind": "mlp",
        "inputs": first.in_features,
        "hidden": module.hidden,
        "outputs": last.out_features,
    }


def _metadata(module: PolicyModule, spec: PolicySpec) -> dict[str, Any]:
    return {
        "format_version": FORMAT_VERSION,
        "architecture": _architecture(module),
        "normalisers": _core.POLICY_FEATURES.get(spec.feature_set, []),
        **asdict(spec),
    }


@cache
def git_revision() -> str:
    """The git revision of this code; empty outside a repository."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
