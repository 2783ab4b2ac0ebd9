"""Networks of one's own: `network=my.module:NAME`, a torch.nn.Module with `initial_state` and `step`.

    class Net(torch.nn.Module):
        def __init__(self, inputs, outputs): ...
        def initial_state(self, flows): ...              # tensors (flows, numbers), nested as you like, or ()
        def step(self, observation, state): ...          # (flows, inputs) -> (flows, outputs), next state

What is a stack of known layers becomes one, and flies natively from then on; anything else flies through the
vector environment.
"""

from collections.abc import Callable
from typing import Any

import torch
from ccgym.agents.stack import UnknownLayersError, as_stack
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.import_strings import load_object

_TRIED_FLOWS = 3


def load_network(name: str, inputs: int, outputs: int, seed: int) -> torch.nn.Module:
    """The network that `name` names, a `StackPolicy` where it is one, with weights from the seed.

    Raises:
        InputError: there is none, or it is not of the shape above.
    """
    kind = load_object(name, "network")
    try:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = kind(inputs, outputs)
            _try(network, inputs, outputs)
            return as_stack(network, inputs)
    except UnknownLayersError:
        return network  # type: ignore[no-any-return]
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"network: {name} raised {type(error).__name__}: {excerpt(error)}") from error


def _try(network: Any, inputs: int, outputs: int) -> None:
    """Raises InputError for what is no network of this shape."""
    lacking = [each for each in ("initial_state", "step") if not callable(getattr(network, each, None))]
    if lacking or not isinstance(network, torch.nn.Module):
        raise InputError(f"network: {excerpt(network)!r} is no torch.nn.Module with initial_state and step")
    own: Any = network
    with torch.no_grad():
        given, _ = own.step(torch.zeros(_TRIED_FLOWS, inputs), own.initial_state(_TRIED_FLOWS))
    if given.shape != (_TRIED_FLOWS, outputs):
        raise InputError(
            f"network: step gave outputs of shape {tuple(given.shape)}, should be (flows, {outputs}), here "
            f"{(_TRIED_FLOWS, outputs)}"
        )


def flat_state(state: Any) -> torch.Tensor:
    """What a network remembers of each flow, in one row: (N, numbers)."""
    tensors = _tensors(state)
    return torch.cat([tensor.flatten(1) for tensor in tensors], dim=1) if tensors else torch.zeros(1, 0)


def unflat_state(like: Any, flat: torch.Tensor) -> Any:
    """The state of N flows from their rows; `like` is one of N flows."""
    sizes = [tensor.flatten(1).shape[1] for tensor in _tensors(like)]
    parts = iter(flat.split_with_sizes(sizes, dim=1))
    return _mapped(like, lambda tensor: next(parts).reshape(tensor.shape))


def chosen_state(decided: torch.Tensor, new: Any, old: Any) -> Any:
    """`new` of the flows that have decided, `old` of the others."""
    olds = iter(_tensors(old))

    def choose(tensor: torch.Tensor) -> torch.Tensor:
        mask = decided.reshape(-1, *[1] * (tensor.dim() - 1))
        return torch.where(mask, tensor, next(olds))

    return _mapped(new, choose)


def state_size(network: Any) -> int:
    """Numbers that a network remembers of a flow."""
    return int(flat_state(network.initial_state(1)).shape[1])


def _tensors(state: Any) -> list[torch.Tensor]:
    if isinstance(state, torch.Tensor):
        return [state]
    return [] if state is None else [tensor for part in state for tensor in _tensors(part)]


def _mapped(state: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(state, torch.Tensor):
        return change(state)
    return None if state is None else type(state)(_mapped(part, change) for part in state)
