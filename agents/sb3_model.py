"""A model that stable-baselines3 has saved, a `.zip` of PPO, SAC or RecurrentPPO, as a policy.

Nothing in it is unpickled: weights are read as tensors only, everything else from the text beside them.
"""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from ccgym.envs import _core
from ccgym.envs.errors import excerpt

from .policy_header import PolicySpec
from .sb3_archive import NO_MODEL, ModelError, read_archive
from .stack import ACTIVATIONS, StackPolicy

_SQUASHED = ("log_window", "rate")


def read_model(
    path: Path, *, features: str | None = None, actions: str | None = None
) -> tuple[StackPolicy, PolicySpec]:
    """The model's most likely action as a network, and how it is run.

    Args:
        path: path of the `.zip`.
        features: feature set; None: as the model's space says.
        actions: action set; None: as the model's space says.

    Raises:
        ModelError: the file is no model, or its algorithm, features or layers do not run natively.
    """
    data, weights = _parts(path)
    try:
        return _policy_of(path, data, weights, features, actions)
    except ModelError:
        raise
    except (LookupError, ValueError, TypeError, RuntimeError, StopIteration) as error:
        raise ModelError(f"{path}: {NO_MODEL}: its layers do not fit together: {excerpt(error)}") from None


Tensors = Mapping[str, torch.Tensor]


def _policy_of(
    path: Path, data: dict[str, Any], weights: Tensors, features: str | None, actions: str | None
) -> tuple[StackPolicy, PolicySpec]:
    layers = list(_layers(data, weights))
    inputs = int(layers[0][1]["weight_ih_l0" if layers[0][0] == "lstm" else "weight"].shape[1])
    outputs = _outputs(layers)
    features = features or _named(data, "observation_space") or _features_of(inputs)
    actions = actions or _named(data, "action_space") or _actions_of(outputs)
    spec = PolicySpec(features, actions, companion=bool(_saved_with(data, "action_space", "ccgym_companion")))
    _check(path, spec, inputs, outputs, squashed=layers[-1][0] == "tanh")
    stack = StackPolicy(inputs, [_plan(kind, tensors) for kind, tensors in layers])
    stack.load_state_dict(
        {
            f"layers.{index}.{name}": tensor
            for index, (_, tensors) in enumerate(layers)
            for name, tensor in tensors.items()
        }
    )
    return stack, spec


def _parts(path: Path) -> tuple[dict[str, Any], Tensors]:
    data, saved = read_archive(path)
    try:
        weights = torch.load(io.BytesIO(saved), map_location="cpu", weights_only=True)
    except Exception as error:  # torch.load raises anything on a broken file
        raise ModelError(f"{path}: {NO_MODEL}: {excerpt(error)}") from None
    if not isinstance(weights, Mapping):
        raise ModelError(f"{path}: {NO_MODEL}: its policy.pth should be a table")
    return data, {str(name): tensor for name, tensor in weights.items() if isinstance(tensor, torch.Tensor)}


def _layers(data: dict[str, Any], weights: Tensors) -> Iterator[tuple[str, Tensors]]:
    """Kind and tensors of each layer that chooses actions, in order."""
    if any("features_extractor" in name for name in weights):
        raise ModelError("features_extractor: the model has layers before its own; known is MlpPolicy")
    if "actor.mu.weight" in weights:  # SAC
        yield from _perceptron(weights, "actor.latent_pi.", _activation(data, "relu"))
        yield "linear", _under(weights, "actor.mu.")
        yield "tanh", {}
        return
    if "action_net.weight" not in weights:
        raise ModelError("policy.pth holds no actor of PPO, SAC or RecurrentPPO with an MlpPolicy")
    memory = _under(weights, "lstm_actor.")
    if memory:
        if len(memory) != 4:
            raise ModelError("lstm_actor has several layers; known is one")
        yield "lstm", memory
    yield from _perceptron(weights, "mlp_extractor.policy_net.", _activation(data, "tanh"))
    yield "linear", _under(weights, "action_net.")
    if _saved_with(data, "policy_kwargs", "squash_output"):  # goes with use_sde
        yield "tanh", {}


def _perceptron(weights: Tensors, prefix: str, activation: str) -> Iterator[tuple[str, Tensors]]:
    numbers = sorted(
        {int(name.removeprefix(prefix).split(".")[0]) for name in weights if name.startswith(prefix)}
    )
    for number in numbers:
        yield "linear", _under(weights, f"{prefix}{number}.")
        yield activation, {}


def _under(weights: Tensors, prefix: str) -> Tensors:
    return {name.removeprefix(prefix): tensor for name, tensor in weights.items() if name.startswith(prefix)}


def _activation(data: dict[str, Any], usual: str) -> str:
    arguments = data.get("policy_kwargs")
    saved = str(arguments.get("activation_fn", "")) if isinstance(arguments, dict) else ""
    if not saved:
        return usual
    for name, kind in ACTIVATIONS.items():
        if saved.endswith(f".{kind.__name__}'>"):
            return name
    raise ModelError(f"activation_fn: {excerpt(saved)} is unknown; known are {', '.join(ACTIVATIONS)}")


def _saved_with(data: dict[str, Any], name: str, key: str) -> Any:
    entry = data.get(name)
    return entry.get(key) if isinstance(entry, dict) else None


def _named(data: dict[str, Any], space: str) -> str | None:
    """The set that our environments name in their spaces; None: the space names none."""
    name = _saved_with(data, space, "ccgym")
    return name if isinstance(name, str) else None


def _features_of(inputs: int) -> str:
    fitting = [name for name, divisors in _core.POLICY_FEATURES.items() if len(divisors) == inputs]
    if len(fitting) != 1:
        sizes = ", ".join(f"{name} {len(divisors)}" for name, divisors in _core.POLICY_FEATURES.items())
        raise ModelError(f"the model sees {inputs} numbers; features that run natively have: {sizes}")
    return fitting[0]


def _actions_of(outputs: int) -> str:
    fitting = [name for name, count in _core.POLICY_ACTIONS.items() if count == outputs]
    if len(fitting) != 1:
        raise ModelError(
            f"its actions are {outputs} numbers: say which set with --actions, as in --actions log_window"
        )
    return fitting[0]


def _check(path: Path, spec: PolicySpec, inputs: int, outputs: int, *, squashed: bool) -> None:
    sizes = {name: len(divisors) for name, divisors in _core.POLICY_FEATURES.items()}
    for key, name, table, size in (
        ("features", spec.feature_set, sizes, inputs),
        ("actions", spec.actions, _core.POLICY_ACTIONS, outputs),
    ):
        if name not in table:
            raise ModelError(
                f"{path}: {key} {excerpt(name)} do not run natively; known are {', '.join(table)}"
            )
        if table[name] != size:
            raise ModelError(f"{path}: {key} {name} are {table[name]} numbers, the model has {size}")
    if squashed and spec.actions not in _SQUASHED:
        raise ModelError(
            f"{path}: SAC squashes its actions to [-1, 1], as squash_output does; those of {spec.actions} "
            "are of another size"
        )


def _outputs(layers: list[tuple[str, Tensors]]) -> int:
    return next(int(tensors["weight"].shape[0]) for kind, tensors in reversed(layers) if kind == "linear")


def _plan(kind: str, tensors: Tensors) -> dict[str, Any]:
    if kind == "linear":
        return {"kind": kind, "units": int(tensors["weight"].shape[0])}
    if kind == "lstm":
        return {"kind": kind, "units": int(tensors["weight_hh_l0"].shape[1])}
    return {"kind": kind}
