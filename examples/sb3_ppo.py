"""PPO of stable-baselines3 on random links, then as a native policy: `ccgym export ppo.zip --name my_ppo`.

Mean log power on the twelve links after 40 s of a core: -2.68; indigo2 has -2.40, random actions -5.76.
"""

import argparse

import gymnasium as gym
import numpy as np
from ccgym.envs.gym.sb3_vec_env import PathSb3VecEnv
from stable_baselines3 import PPO
from twelve_links import mean_log_power

FLOWS, EPISODE_STEPS = 96, 400


def reward(info, link_mbps, empty_rtt_ms):
    """Share of the link minus penalties for queueing and loss."""
    late = np.where(info["delay_ms"] > 0, info["delay_ms"] / empty_rtt_ms - 1, 0)
    share = np.minimum(info["throughput_mbps"] / link_mbps, 1.2)
    return share * (1.5 - 0.5 * late.clip(0, 4)) - info["loss"]


def main(iterations: int) -> float:
    """Trains, saves, and returns the policy's mean log power on the twelve links."""
    envs = gym.make_vec(
        "ccgym/Path-v0",
        num_envs=FLOWS,
        max_episode_steps=EPISODE_STEPS,
        emulator="random:train",
        features="scale_free",
        actions="log_window",
        reward=reward,
        threads=2,
    )
    model = PPO(
        "MlpPolicy",
        PathSb3VecEnv(envs),
        n_steps=EPISODE_STEPS // 2,
        batch_size=2400,
        n_epochs=5,
        gamma=0.97,
        learning_rate=5e-4,
        policy_kwargs={"log_std_init": -1.5},
        seed=1,
        device="cpu",
    )
    model.learn(iterations * FLOWS * EPISODE_STEPS // 2)
    model.save("ppo.zip")
    power = mean_log_power(
        lambda seen: model.predict(seen, deterministic=True)[0], "scale_free", "log_window"
    )
    print(f"mean log power {power:.2f}")
    return power


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=24, help="default: 24")
    main(parser.parse_args().iterations)
