"""Networks of your own: `network=my.module:NAME`, a torch.nn.Module with `initial_state` and `step`.

    class Net(torch.nn.Module):
        def __init__(self, inputs, outputs): ...
        def initial_state(self, flows): ...              # tensors (flows, numbers), nested as you like, or ()
        def step(self, observation, state): ...          # (flows, inputs) -> (flows, outputs), next state

A network that is a stack of known layers, none of them frozen or shared, is turned into a `StackPolicy` and
runs natively; any other runs through the vector environment.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from ccgym.agents.stack import UnknownLayersError, as_stack
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.import_strings import load_object, telling

_TRIED_FLOWS = 3
_TRIED_STEPS = 3
_BY_BATCH_OR_CHANCE = (torch.nn.modules.batchnorm._NormBase, torch.nn.modules.dropout._DropoutNd)


def load_network(name: str, inputs: int, outputs: int, seed: int) -> torch.nn.Module:
    """The network `name`, as a `StackPolicy` if it is a stack of known layers; its weights are from the seed.

    Raises:
        InputError: there is no such network, or it does not have the interface above.
    """
    kind = load_object(name, "network")
    with telling(f"network: {name}"), torch.random.fork_rng():
        torch.manual_seed(seed)
        network: torch.nn.Module = kind(inputs, outputs)
        _check_shape(network)
        _try_outputs(network, inputs, outputs)
        _try_flows_apart(network, inputs)
        _try_gradient(network, inputs)
        try:
            return as_stack(network, inputs)
        except UnknownLayersError:
            _try_state(network, inputs)
            return network


def _check_shape(network: Any) -> None:
    """Raises InputError: no network of this interface, or one that the same seed makes different."""
    lacking = [each for each in ("initial_state", "step") if not callable(getattr(network, each, None))]
    if lacking or not isinstance(network, torch.nn.Module):
        raise InputError(
            f"network: {type(network).__name__} is no torch.nn.Module with initial_state and step"
        )
    for layer in network.modules():
        if isinstance(layer, _BY_BATCH_OR_CHANCE) or getattr(layer, "dropout", False):
            raise InputError(
                f"network: {type(layer).__name__}: its answers depend on the batch or on chance (dropout), "
                "those of a policy must not; LayerNorm would be right"
            )


def _step(network: Any, observations: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
    """Raises InputError: not the output of a network."""
    answer = network.step(observations, state)
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[0], torch.Tensor):
        raise InputError(
            f"network: step gave a {type(answer).__name__}, should give a tuple of outputs (flows, outputs) "
            "and the next state"
        )
    return answer


def _try_outputs(network: Any, inputs: int, outputs: int) -> None:
    """Raises InputError: `step` returns something else than it should."""
    with torch.no_grad():
        given, _ = _step(network, torch.zeros(_TRIED_FLOWS, inputs), network.initial_state(_TRIED_FLOWS))
    if given.shape != (_TRIED_FLOWS, outputs):
        raise InputError(
            f"network: step gave outputs of shape {tuple(given.shape)}, should give finite numbers of shape "
            f"(flows, {outputs}), here {(_TRIED_FLOWS, outputs)}"
        )
    if not given.isfinite().all():
        raise InputError("network: step gave NaN or infinity, should give finite numbers")


def _try_flows_apart(network: Any, inputs: int) -> None:
    """Raises InputError: the output for one flow depends on the other flows of the batch."""
    seen = torch.linspace(-1, 1, _TRIED_FLOWS * inputs).reshape(_TRIED_FLOWS, inputs)
    for _ in range(_TRIED_STEPS):  # chance may answer the same a few times
        with torch.no_grad():
            together, _ = _step(network, seen, network.initial_state(_TRIED_FLOWS))
            alone = [_step(network, row[None], network.initial_state(1))[0] for row in seen]
        if not torch.allclose(together, torch.cat(alone), rtol=1e-3, atol=1e-4):
            raise InputError(
                "network: step answers a flow otherwise when others are beside it, or by chance; each row "
                "should be answered by itself"
            )


def _try_gradient(network: Any, inputs: int) -> None:
    """Raises InputError: the network has no parameters to learn."""
    state = network.initial_state(_TRIED_FLOWS)
    given = torch.zeros(())
    for _ in range(_TRIED_STEPS):
        outputs, state = _step(network, torch.zeros(_TRIED_FLOWS, inputs), state)
        given = given + outputs.sum()
    try:
        given.backward()  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        raise InputError(
            f"network: no gradient can be taken through {_TRIED_STEPS} steps: {excerpt(error)}"
        ) from error
    network.zero_grad()


def _try_state(network: Any, inputs: int) -> None:
    """Raises InputError: the state does not have one row for each flow."""
    state = network.initial_state(_TRIED_FLOWS)
    before = [tuple(tensor.shape) for tensor in _tensors(state)]
    with torch.no_grad():
        _, state = _step(network, torch.zeros(_TRIED_FLOWS, inputs), state)
    after = [tuple(tensor.shape) for tensor in _tensors(state)]
    if after != before or any(shape[:1] != (_TRIED_FLOWS,) or len(shape) < 2 for shape in before):
        raise InputError(
            f"network: the state has shapes {excerpt(before)}, after a step {excerpt(after)}: should stay "
            f"the same, (flows, numbers), here ({_TRIED_FLOWS}, numbers)"
        )


def flat_state(state: Any) -> torch.Tensor:
    """The state of a network as one row per flow: (N, numbers)."""
    tensors = _tensors(state)
    return torch.cat([tensor.flatten(1) for tensor in tensors], dim=1) if tensors else torch.zeros(1, 0)


def unflat_state(like: Any, flat: torch.Tensor) -> Any:
    """The state of N flows from their rows; `like` is one of N flows."""
    sizes = [tensor.flatten(1).shape[1] for tensor in _tensors(like)]
    parts = iter(flat.split_with_sizes(sizes, dim=1))
    return _mapped(like, lambda tensor: next(parts).reshape(tensor.shape))


def chosen_state(decided: torch.Tensor, new: Any, old: Any) -> Any:
    """`new` for the flows that have decided, `old` for the others."""
    olds = iter(_tensors(old))

    def choose(tensor: torch.Tensor) -> torch.Tensor:
        mask = decided.reshape(-1, *[1] * (tensor.dim() - 1))
        return torch.where(mask, tensor, next(olds))

    return _mapped(new, choose)


def state_size(network: Any) -> int:
    """Numbers in a network's state of one flow."""
    return int(flat_state(network.initial_state(1)).shape[1])


def _tensors(state: Any) -> list[torch.Tensor]:
    if isinstance(state, torch.Tensor):
        return [state]
    parts = state.values() if isinstance(state, Mapping) else state
    return [] if state is None else [tensor for part in parts for tensor in _tensors(part)]


def _mapped(state: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(state, torch.Tensor):
        return change(state)
    if isinstance(state, Mapping):
        return {name: _mapped(part, change) for name, part in state.items()}
    if state is None:
        return None
    parts = [_mapped(part, change) for part in state]
    return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)  # of a NamedTuple
