"""The configuration of reinforcement learning: a frozen model, read from configs/training/*.yaml."""

from typing import Literal, Self

from ccgym.dagger.config import RunConfig
from pydantic import Field, model_validator


class RlConfig(RunConfig):
    """Everything a run depends on besides the machine."""

    algo: Literal["ppo", "recurrent-ppo"]
    """`ppo` trains a network without memory, `recurrent-ppo` one with an LSTM."""
    features: Literal["indigo", "scale_free", "aurora"]
    """Feature set of the observations: a key of `_core.POLICY_FEATURES`."""
    actions: Literal["indigo", "log_window", "rate"]
    """Action set: a key of `_core.POLICY_ACTIONS`."""
    reward: Literal["power", "aurora", "copa"]
    """What a step is worth: a key of `REWARDS`."""
    hidden: int | list[int]
    """Units of the LSTM layer, or of each layer with tanh of a network without memory."""
    init: str = ""
    """Policy to start from, of these features, actions and units: a file, or a name that ships."""

    value_hidden: list[int] = Field([64, 64])
    """Units of the layers of the network that learns what a state is worth."""
    value_iterations: int = Field(0, ge=0)
    """First iterations in which only that network learns: it must know a policy before it may judge it."""
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
    entropy_weight: float = Field(0.0, ge=0)
    """Reward of randomness."""
    initial_spread: float = Field(1.0, gt=0)
    """Standard deviation of the first actions, for action sets of one number."""
    learning_rate: float = Field(gt=0)
    max_gradient_norm: float = Field(0.5, gt=0)

    @model_validator(mode="after")
    def _network_fits_algorithm(self) -> Self:
        if isinstance(self.hidden, int) != (self.algo == "recurrent-ppo"):
            right = "a number of units" if self.algo == "recurrent-ppo" else "a list, units per layer"
            raise ValueError(f"hidden ({self.hidden}) must be {right} for algo {self.algo}")
        if self.features == "indigo" and self.actions != "indigo":
            raise ValueError(f"features indigo hold the last of indigo's actions, not of {self.actions}")
        return self
