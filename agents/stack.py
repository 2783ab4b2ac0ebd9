"""A stack of known layers, the form in which the native sender runs the user's own networks."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

State = tuple[torch.Tensor, ...]
"""States of the layers with memory, in order, each (N, H): hidden state; for an LSTM also the cell state."""

SIZED: dict[str, type[torch.nn.Module]] = {
    "linear": torch.nn.Linear,
    "lstm": torch.nn.LSTM,
    "gru": torch.nn.GRU,
    "layer_norm": torch.nn.LayerNorm,
}
ACTIVATIONS: dict[str, type[torch.nn.Module]] = {
    "tanh": torch.nn.Tanh,
    "sigmoid": torch.nn.Sigmoid,
    "relu": torch.nn.ReLU,
    "leaky_relu": torch.nn.LeakyReLU,
    "elu": torch.nn.ELU,
    "silu": torch.nn.SiLU,
    "gelu": torch.nn.GELU,
}
KNOWN_LAYERS = (*SIZED, *ACTIVATIONS)
"""Layers with PyTorch's default arguments; lstm and gru have one layer and one direction."""

MOST_LAYERS, MOST_UNITS = 64, 4096
"""Of a policy file."""
AGREEMENT = 1e-5
_TRIED_STEPS, _TRIED_FLOWS = 8, 16
_FAR = (10.0, 1e3, 1e5)
"""Observations are also tried so many times as large, because a `step` may clip large values."""
_FAR_AGREEMENT, _FAR_SHARE = 1e-3, 0.9
"""Tolerance there, and share of outputs within it: sums round coarsely, so a few gates may differ."""


class UnknownLayersError(ValueError):
    """A network is no stack of known layers. One line: what it is, which layers are known."""


class StackPolicy(torch.nn.Module):
    """Maps observations to outputs through one layer after the other."""

    def __init__(self, inputs: int, layers: Sequence[dict[str, Any]]) -> None:
        """`layers`: each a `kind` of `KNOWN_LAYERS` and, for linear, lstm and gru, its `units`."""
        super().__init__()
        self.inputs = inputs
        self.plan = [dict(layer) for layer in layers]
        self.layers = torch.nn.ModuleList()
        size = inputs
        for layer in layers:
            self.layers.append(_make(layer["kind"], size, layer.get("units", size)))
            size = layer.get("units", size)
        self.outputs = size

    @property
    def state_size(self) -> int:
        """Numbers that one flow's memory holds."""
        return sum(tensor.shape[1] for tensor in self.initial_state(1))

    def initial_state(self, flows: int) -> State:
        """The state at the start of `flows` flows."""
        parameter = next(self.parameters())
        return tuple(
            parameter.new_zeros(flows, layer["units"])
            for layer in self.plan
            for _ in range({"lstm": 2, "gru": 1}.get(layer["kind"], 0))
        )

    def step(self, observation: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """One decision of N flows: observation (N, I) to outputs (N, O)."""
        outputs, state = self.forward(observation[:, None], state)
        return outputs[:, 0], state

    def forward(self, observations: torch.Tensor, state: State | None = None) -> tuple[torch.Tensor, State]:
        """T steps of N flows: observations (N, T, I) to outputs (N, T, O) and the state after them."""
        left = list(self.initial_state(len(observations)) if state is None else state)
        after: list[torch.Tensor] = []
        values = observations
        for layer in self.layers:
            if isinstance(layer, torch.nn.LSTM):
                hidden, cell = (left.pop(0)[None].contiguous() for _ in range(2))
                values, (hidden, cell) = layer(values, (hidden, cell))
                after += [hidden[0], cell[0]]
            elif isinstance(layer, torch.nn.GRU):
                values, hidden = layer(values, left.pop(0)[None].contiguous())
                after.append(hidden[0])
            else:
                values = layer(values)
        return values, tuple(after)

    def split_state(self, flat: torch.Tensor) -> State:
        """The state of N flows from the numbers that a run has recorded, (N, numbers)."""
        return tuple(flat.split_with_sizes([tensor.shape[1] for tensor in self.initial_state(1)], dim=1))


def _make(kind: str, inputs: int, units: int) -> torch.nn.Module:
    if kind in ACTIVATIONS:
        return ACTIVATIONS[kind]()
    if kind == "layer_norm":
        return torch.nn.LayerNorm(inputs)
    if kind == "linear":
        return torch.nn.Linear(inputs, units)
    recurrent = torch.nn.LSTM if kind == "lstm" else torch.nn.GRU
    return recurrent(inputs, units, batch_first=True)


def as_stack(network: torch.nn.Module, inputs: int) -> StackPolicy:
    """Converts a network with `initial_state(flows)` and `step(observation, state)` to an equal stack.

    Layers are taken in the order of the network's modules. Trial observations show whether its `step` applies
    them in this order and does nothing else.

    Raises:
        UnknownLayersError: the network has other layers, or does something else with them.
    """
    layers = list(_layers(network))
    plan = [_described(layer) for layer in layers]
    if not plan:
        raise _unknown("it has none")
    if len(plan) > MOST_LAYERS or any(layer.get("units", 1) > MOST_UNITS for layer in plan):
        raise _unknown(f"it has more than {MOST_LAYERS} layers, or than {MOST_UNITS} units in one")
    _check_parameters(network, layers)
    stack = StackPolicy(inputs, plan)
    for ours, theirs in zip(stack.layers, layers, strict=True):
        values = [parameter.detach() for parameter in theirs.parameters()]
        own = list(ours.parameters())
        if [value.shape for value in values] != [parameter.shape for parameter in own]:
            raise _unknown("their sizes do not follow one another")
        for parameter, value in zip(own, values, strict=True):
            parameter.data = value.clone()
    if not _agree(stack, network):
        raise _unknown("step() does something else than to pass them in turn")
    return stack


def _layers(network: torch.nn.Module) -> Iterator[torch.nn.Module]:
    """The innermost modules, in order."""
    for child in network.children():
        if isinstance(child, torch.nn.Identity):
            continue
        if any(True for _ in child.children()):
            yield from _layers(child)
        else:
            yield child


def _check_parameters(network: torch.nn.Module, layers: Sequence[torch.nn.Module]) -> None:
    """Raises UnknownLayersError if the parameters differ in number, sharing or freedom from a stack's."""
    parameters = [parameter for layer in layers for parameter in layer.parameters()]
    if not all(parameter.requires_grad for parameter in parameters):
        raise _unknown("some of its parameters are frozen")
    if len({id(parameter) for parameter in parameters}) < len(parameters):
        raise _unknown("layers share their parameters")
    if len(parameters) < len(list(network.parameters())):
        raise _unknown("it has parameters beside those of its layers")


_CELLS = {torch.nn.LSTMCell: "lstm", torch.nn.GRUCell: "gru"}


def _described(layer: torch.nn.Module) -> dict[str, Any]:
    kinds = {made: kind for kind, made in {**SIZED, **ACTIVATIONS}.items()} | _CELLS
    kind = kinds.get(type(layer))
    if kind is None or repr(layer) != repr(_default_of(layer)):
        raise _unknown(f"it has {layer!r:.80}")
    if kind in ("lstm", "gru"):
        return {"kind": kind, "units": int(layer.hidden_size)}  # type: ignore[arg-type]
    return {"kind": kind, **({"units": int(layer.out_features)} if kind == "linear" else {})}  # type: ignore[arg-type]


def _default_of(layer: torch.nn.Module) -> torch.nn.Module:
    """A layer of its kind and sizes with default arguments."""
    made = type(layer)
    if isinstance(layer, torch.nn.Linear):
        return made(layer.in_features, layer.out_features)
    if isinstance(layer, torch.nn.LayerNorm):
        return made(layer.normalized_shape[0])
    if isinstance(layer, (torch.nn.LSTM, torch.nn.GRU)):
        return made(layer.input_size, layer.hidden_size, batch_first=layer.batch_first)
    if isinstance(layer, (torch.nn.LSTMCell, torch.nn.GRUCell)):
        return made(layer.input_size, layer.hidden_size)
    return made()


def _agree(stack: StackPolicy, network: Any) -> bool:
    near = _answers(stack, network, 1.0)
    if near is None or not torch.allclose(*near, rtol=AGREEMENT, atol=AGREEMENT):
        return False
    return all(_agree_far_out(_answers(stack, network, scale)) for scale in _FAR)


def _agree_far_out(answers: tuple[torch.Tensor, torch.Tensor] | None) -> bool:
    if answers is None:
        return False
    agreeing = torch.isclose(*answers, rtol=_FAR_AGREEMENT, atol=_FAR_AGREEMENT, equal_nan=True)
    return bool((agreeing.float().mean(dim=0) >= _FAR_SHARE).all())  # for each output separately


def _answers(stack: StackPolicy, network: Any, scale: float) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Outputs of both for the same observations, steps and flows in one dimension; None: shapes differ."""
    generator = torch.Generator().manual_seed(0)
    answers: list[tuple[torch.Tensor, torch.Tensor]] = []
    with torch.no_grad():
        ours, theirs = stack.initial_state(_TRIED_FLOWS), network.initial_state(_TRIED_FLOWS)
        for _ in range(_TRIED_STEPS):
            observation = scale * torch.randn(_TRIED_FLOWS, stack.inputs, generator=generator)
            our_outputs, ours = stack.step(observation, ours)
            their_outputs, theirs = network.step(observation, theirs)
            if our_outputs.shape != their_outputs.shape:
                return None
            answers.append((our_outputs, their_outputs))
    our_all, their_all = zip(*answers, strict=True)
    return torch.cat(our_all), torch.cat(their_all)


def _unknown(why: str) -> UnknownLayersError:
    return UnknownLayersError(f"no stack of known layers: {why}; known are {', '.join(KNOWN_LAYERS)}")
