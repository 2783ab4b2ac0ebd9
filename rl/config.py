"""The configuration of reinforcement learning: a frozen model, read from configs/training/*.yaml."""

from typing import Annotated, Literal, Self

from ccgym.training.config import MOST_UNITS, NativeOrOwn, RunConfig, Units
from pydantic import Field, model_validator


class RlConfig(RunConfig):
    """Everything a run depends on besides the machine."""

    algo: Literal["ppo", "recurrent-ppo"]
    """`ppo` trains a network without memory, `recurrent-ppo` one with an LSTM."""
    features: Annotated[str, NativeOrOwn("indigo", "scale_free", "aurora", "raw")] | None = None
    """Feature set of the observations: a key of `_core.POLICY_FEATURES`, or features of one's own as
    `my.module:NAME`; without one, that of `init`."""
    actions: Literal["indigo", "log_window", "rate"] | None = None
    """Action set: a key of `_core.POLICY_ACTIONS`; without one, that of `init`."""
    companion: bool | None = None
    """Whether what `log_window` answers is changed for others on the bottleneck; without it, as `init`."""
    hidden: int | list[int] | None = None
    """Units of the LSTM layer, or of each layer with tanh of a network without memory; or as `init`."""
    network: Annotated[str, NativeOrOwn("")] = ""
    """A network without memory instead of `hidden`, for `ppo`: `my.module:NAME`, a torch.nn.Module."""
    init: str = ""
    """Policy to start from, a file or a name that ships; it brings features, actions and units along."""
    reward: Annotated[str, NativeOrOwn("power", "aurora", "copa", "log_power")]
    """What a step is worth: a key of `REWARDS`; `log_power`, beside the policy to start from; or a function
    of one's own as `my.module:NAME`."""
    links: Annotated[str, NativeOrOwn("")] = ""
    """Distribution that an iteration draws its paths from, instead of `emulators`: `my.module:NAME`."""

    delay_weight: float = Field(1.0, ge=0)
    """Of the delay's logarithm beside the throughput's in `log_power`."""
    unseen_emulators: int = Field(0, ge=0)
    """So many random emulators validate the policy beside `validation`; training never sees them."""

    value_hidden: list[Units] = Field([64, 64])
    """Units of the layers of the network that learns what a state is worth."""
    value_iterations: int = Field(0, ge=0)
    """First iterations in which only that network learns: it must know a policy before it may value it."""
    group_size: int = Field(1, ge=1)
    """So many flows run the same path with the same chance, and are worth what they gain over their mean."""
    reward_scale: float = Field(1.0, gt=0)
    """Rewards are multiplied by this, so that values are of the order of 1 to 100."""
    discount: float = Field(0.99, gt=0, lt=1)
    """Worth of a reward one step later."""
    trace_decay: float = Field(0.95, ge=0, le=1)
    """Lambda of generalised advantage estimation."""
    batch_decisions: int = Field(gt=0)
    """Decisions per gradient step."""
    epochs: int = Field(gt=0)
    """Passes over the decisions of an iteration."""
    clip_range: float = Field(0.2, gt=0)
    """Greatest change of an action's probability that pays off, as a share."""
    max_divergence: float | None = Field(None, gt=0)
    """An iteration stops learning when the policy is further from the one that ran, in nats; none: never."""
    entropy_weight: float = Field(0.0, ge=0)
    """Reward of randomness."""
    initial_spread: float = Field(1.0, gt=0)
    """Standard deviation of the first actions, for action sets of one number."""
    held_steps: int = Field(0, ge=0)
    """Decisions for which one deviation from the policy is held, a function of what it sees; 0: none is."""
    learning_rate: float = Field(gt=0)
    max_gradient_norm: float = Field(0.5, gt=0)

    @model_validator(mode="after")
    def _network_fits_algorithm(self) -> Self:
        if self.network and (self.init or self.algo != "ppo"):
            raise ValueError("network: goes with algo ppo and without init: it brings its own weights")
        needed = ("features", "actions") if self.network else ("features", "actions", "hidden")
        missing = [name for name in needed if getattr(self, name) is None]
        if missing and not self.init:
            raise ValueError(f"{missing[0]} is missing, and there is no init to bring it along")
        if self.network and self.held_steps:
            raise ValueError("held_steps: not with a network of one's own; leave it out")
        if self.hidden is not None and isinstance(self.hidden, int) != (self.algo == "recurrent-ppo"):
            right = "a number of units" if self.algo == "recurrent-ppo" else "a list, units per layer"
            raise ValueError(f"hidden ({self.hidden}) must be {right} for algo {self.algo}")
        layers = [self.hidden] if isinstance(self.hidden, int) else self.hidden or []
        if not all(1 <= units <= MOST_UNITS for units in layers):
            raise ValueError(f"hidden ({self.hidden}) must be 1 to {MOST_UNITS} units per layer")
        if self.features == "indigo" and self.actions not in (None, "indigo"):
            raise ValueError(f"features indigo hold the last of indigo's actions, not of {self.actions}")
        return self

    @model_validator(mode="after")
    def _flows_fit_paths(self) -> Self:
        if self.environments % self.group_size:
            raise ValueError(f"group_size ({self.group_size}) must divide environments ({self.environments})")
        if self.reward == "log_power" and self.links:
            raise ValueError("links: reward log_power needs links that it can run over before; take another")
        if self.reward == "log_power" and not self.init:
            raise ValueError("reward log_power compares with the policy to start from: give init")
        return self

    @property
    def paths(self) -> int:
        """Paths run in an iteration."""
        return self.environments // self.group_size
