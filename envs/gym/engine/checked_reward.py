"""A reward by its name, or a function of one's own, whose answers are checked."""

import numpy as np
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.gym.rewards import REWARDS, VECTOR, Floats, Info, Reward, vector_space
from ccgym.envs.import_strings import is_import_string, load_object, telling
from gymnasium import spaces

from .arguments import known

MOST_REWARD = float(np.finfo(np.float32).max)
"""Either way: learners take rewards as float32."""


class CheckedReward:
    """What a step is worth to each row."""

    def __init__(self, reward: str | Reward) -> None:
        """Raises InputError: it is no name in `REWARDS`, no `my.module:NAME` and no function."""
        self._reward = _function(reward)
        self._is_own = all(self._reward is not native for native in REWARDS.values())
        self.space: spaces.Box | None = vector_space() if reward == VECTOR else None
        """Of a reward of several numbers; None: it is one number."""

    def __call__(self, info: Info, capacity_mbps: Floats, propagation_rtt_ms: Floats) -> Floats:
        """The rewards of a step, (rows,) or (rows, numbers); 0 for a row that lets the step pass.

        Args:
            info: of the step.
            capacity_mbps: mean rate of each uplink.
            propagation_rtt_ms: round trip of each empty path.

        Raises:
            InputError: a function of one's own raises, or gives something else than finite numbers.
        """
        # A function of one's own that writes into info would change what is returned, and later rewards.
        shown = {name: read_only(each.view()) for name, each in info.items()} if self._is_own else info
        with telling("reward:"):
            rewards: Floats = np.asarray(self._reward(shown, capacity_mbps, propagation_rtt_ms))
        begun = info["time_ms"] > 0
        shape = (len(begun), *(() if self.space is None else self.space.shape))
        if rewards.shape != shape or rewards.dtype.kind not in "fiub":
            raise InputError(
                f"reward: gave {rewards.dtype} of shape {rewards.shape}, should give numbers of shape "
                f"{shape}: one for each flow, as each entry of info is"
            )
        rewards = np.where(begun if rewards.ndim == 1 else begun[:, None], rewards, 0.0)
        finite = np.logical_and.reduce(np.isfinite(rewards), axis=None)
        if not finite or (self._is_own and np.abs(rewards).max() > MOST_REWARD):
            raise InputError(_no_reward(rewards))
        return rewards


def read_only(array: Floats) -> Floats:
    """The same array, which raises ValueError when it is written into."""
    array.flags.writeable = False
    return array


def _function(reward: str | Reward) -> Reward:
    if isinstance(reward, str):
        own = is_import_string(reward)
        reward = load_object(reward, "reward") if own else known("reward", reward, REWARDS)
    if not callable(reward):
        raise InputError(f"reward: {excerpt(reward)!r} is no function of info, link_mbps and empty_rtt_ms")
    return reward


def _no_reward(rewards: Floats) -> str:
    """What is wrong with them, and what would be right."""
    if not np.isfinite(rewards).all():
        return (
            "reward: gave NaN or infinity, should give finite numbers; in a silent step throughput_mbps and "
            "delay_ms are 0"
        )
    most = rewards.flat[np.abs(rewards).argmax()]
    return f"reward: gave {most:g}, should give numbers within float32, up to {MOST_REWARD:.1e}"
