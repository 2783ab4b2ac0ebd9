"""The measure of the examples: mean log power over twelve links that no training sees."""

from collections.abc import Callable

import ccgym.envs  # noqa: F401  registers the environments
import gymnasium as gym
import numpy as np

LINKS = "random:validation:12"
STEPS = 1000


def mean_log_power(act: Callable[[np.ndarray], np.ndarray], features: str, actions: str) -> float:
    """Mean over the links of ln(throughput in Mbit/s / p95 of the steps' one-way delays in ms).

    `act`: observations of the twelve flows to their actions, from the start of the flows on.
    """
    envs = gym.make_vec("ccgym/Path-v0", num_envs=12, emulator=LINKS, features=features, actions=actions)
    observations, _ = envs.reset(seed=1)
    steps = []
    for _ in range(STEPS):
        observations, _, _, _, info = envs.step(act(observations))
        steps.append([info["time_ms"], info["throughput_mbps"], info["delay_ms"]])
    time_ms, rate_mbps, rtt_ms = np.swapaxes(np.array(steps), 0, 1)
    lasted_ms = np.diff(time_ms, axis=0, prepend=0)
    powers = []
    for flow in range(12):
        delivered = rate_mbps[:, flow] * lasted_ms[:, flow]
        order = np.argsort(rtt_ms[:, flow])
        p95 = order[np.searchsorted(np.cumsum(delivered[order]), 0.95 * delivered.sum())]
        one_way_ms = rtt_ms[p95, flow] - envs.unwrapped.engine.propagation_rtt_ms[flow] / 2
        powers.append(np.log(max(delivered.sum() / time_ms[-1, flow], 1e-3) / one_way_ms))
    return float(np.mean(powers))


def shipped() -> float:
    """The same measure for the shipped policy, with its network only, without the companion."""
    import torch  # late: random actions do not need it, and its import takes longer than they run
    from ccgym.agents.policy_file import load_policy
    from ccgym.agents.shipped import policy_path

    network, spec = load_policy(policy_path("indigo2"))
    state = network.initial_state(12)

    def act(seen: np.ndarray) -> np.ndarray:
        nonlocal state
        with torch.no_grad():
            outputs, state = network.step(torch.from_numpy(seen), state)
        return outputs.clamp(-1, 1).numpy()

    return mean_log_power(act, spec.feature_set, spec.actions)


if __name__ == "__main__":
    print(f"mean log power {shipped():.2f}")
