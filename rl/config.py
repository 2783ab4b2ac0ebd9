"""The configuration of reinforcement learning: a frozen model, read from configs/training/*.yaml."""

from typing import Annotated, Literal, Self

from ccgym.training.config import MOST_LAYERS, MOST_UNITS, NativeOrOwn, RunConfig, Units
from pydantic import Field, model_validator


class RlConfig(RunConfig):
    """Everything a run depends on besides the machine."""

    algo: Literal["ppo", "recurrent-ppo"]
    """`ppo` trains a network without memory, `recurrent-ppo` one with an LSTM."""
    features: Annotated[str, NativeOrOwn("indigo", "scale_free", "aurora", "raw")] | None = None
    """Feature set of the observations: a key of `_core.POLICY_FEATURES`, or the user's own features as
    `my.module:NAME`; None: that of `init`."""
    actions: Literal["indigo", "log_window", "rate"] | None = None
    """Action set: a key of `_core.POLICY_ACTIONS`; None: that of `init`."""
    companion: bool | None = None
    """Whether the companion adjusts `log_window`'s actions to others on the bottleneck; None: as `init`."""
    hidden: int | list[int] | None = None
    """Units of the LSTM layer, or of each tanh layer of a network without memory; None: as `init`."""
    network: Annotated[str, NativeOrOwn("")] = ""
    """A network without memory instead of `hidden`, for `ppo`: `my.module:NAME`, a torch.nn.Module."""
    init: str = ""
    """Policy to start from, a file or a shipped one's name; features, actions and units are the policy's."""
    reward: Annotated[str, NativeOrOwn("power", "aurora", "copa", "log_power")]
    """Reward of a step: a key of `REWARDS`; `log_power`, relative to the policy to start from; or the user's
    own function as `my.module:NAME`."""
    links: Annotated[str, NativeOrOwn("")] = ""
    """Distribution that an iteration draws its paths from, instead of `emulators`: `my.module:NAME`."""

    delay_weight: float = Field(1.0, ge=0)
    """Weight of the delay's logarithm relative to the throughput's in `log_power`."""
    unseen_emulators: int = Field(0, ge=0)
    """Number of random emulators, besides `validation`, on which the policy is validated, never trained."""

    value_hidden: list[Units] = Field([64, 64])
    """Units of the layers of the value network."""
    value_iterations: int = Field(0, ge=0)
    """Number of first iterations in which only the value network learns: it must know the policy first."""
    group_size: int = Field(1, ge=1)
    """Flows in a group, which run the same path with the same chance; rewards are relative to their mean."""
    reward_scale: float = Field(1.0, gt=0)
    """Rewards are multiplied by this, so that values are of the order of 1 to 100."""
    discount: float = Field(0.99, gt=0, lt=1)
    """Discount factor of a reward one step later."""
    trace_decay: float = Field(0.95, ge=0, le=1)
    """Lambda of generalised advantage estimation."""
    batch_decisions: int = Field(gt=0)
    """Decisions per gradient step."""
    epochs: int = Field(gt=0)
    """Passes over the decisions of an iteration."""
    clip_range: float = Field(0.2, gt=0)
    """PPO's clip range: greatest change of an action's probability that is rewarded, as a share."""
    max_divergence: float | None = Field(None, gt=0)
    """KL divergence from the policy that ran, in nats, at which an iteration stops learning; None: never."""
    entropy_weight: float = Field(0.0, ge=0)
    """Weight of the entropy bonus."""
    initial_spread: float = Field(1.0, gt=0)
    """Initial standard deviation of the actions, for action sets of one number."""
    held_steps: int = Field(0, ge=0)
    """Decisions for which one deviation from the policy, a function of its inputs, is held; 0: not held."""
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
        if len(layers) > MOST_LAYERS:
            raise ValueError(f"hidden ({self.hidden}) must be at most {MOST_LAYERS} layers")
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
