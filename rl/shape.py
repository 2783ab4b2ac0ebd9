"""A network's inputs, actions and layers, from the configuration and the policy to start from."""

from dataclasses import dataclass

from ccgym.agents.policy_header import PolicyFileError, read_header
from ccgym.agents.shipped import policy_path
from ccgym.envs.errors import InputError

from .config import RlConfig


@dataclass(frozen=True)
class Shape:
    """A network's inputs, actions and layers."""

    features: str
    actions: str
    companion: bool
    """Whether the companion adjusts `log_window`'s actions to other flows on the bottleneck."""
    hidden: int | list[int]
    """Units of the LSTM layer, or of each layer of a network without memory."""
    network: str = ""
    """Name of the user's own network, if any."""


def find_shape(config: RlConfig) -> Shape:
    """The shape that `config` gives, or that of the policy it starts from.

    Raises:
        InputError: `config.init` cannot be read, or does not fit the configuration.
    """
    if config.init:
        return _shape_of_start(config)
    assert config.features is not None, "checked by the config, as the others are"
    assert config.actions is not None
    hidden = [] if config.network else config.hidden
    assert hidden is not None
    return Shape(config.features, config.actions, bool(config.companion), hidden, config.network)


def _shape_of_start(config: RlConfig) -> Shape:
    try:
        architecture, spec = read_header(policy_path(config.init))
    except PolicyFileError as error:
        raise InputError(f"init: {error}") from None
    if architecture["kind"] == "stack":
        raise InputError(
            f"init: {config.init} is a stack of layers: ppo goes on from an mlp, recurrent-ppo from an lstm"
        )
    has_memory, hidden = architecture["kind"] == "lstm", architecture["hidden"]
    if has_memory != (config.algo == "recurrent-ppo"):
        kind, right = ("an LSTM", "recurrent-ppo") if has_memory else ("without memory", "ppo")
        raise InputError(f"init: {config.init} is {kind}: algo must be {right}, not {config.algo}")
    theirs_by_name = {"features": spec.feature_set, "actions": spec.actions, "hidden": hidden}
    for name, theirs in {**theirs_by_name, "companion": spec.companion}.items():
        if getattr(config, name) not in (None, theirs):
            raise InputError(
                f"init: {config.init} has {name} {theirs}; the configuration {getattr(config, name)}"
            )
    return Shape(spec.feature_set, spec.actions, spec.companion, hidden)
