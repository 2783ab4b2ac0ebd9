"""PPO with RLlib, on environments side by side.

RLlib's own requirements ask for an older Gymnasium; with ours it needs
`pip install ray dm-tree lz4 pandas pyarrow tensorboardX`.

Mean log power on the twelve links after 60 s of a core: -2.68; indigo2 has -2.40, random actions -5.76.
"""

import argparse

import ccgym.envs  # noqa: F401  registers the environments
import gymnasium as gym
import numpy as np
import ray
import torch
from gymnasium.wrappers import RescaleAction
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune.registry import register_env
from sb3_ppo import reward
from twelve_links import mean_log_power

FLOWS, STEPS, EPISODE_STEPS, SPREADS = 32, 200, 400, 5


def make_env(_: object) -> gym.Env:
    """One flow with scaled actions: RLlib starts with a spread of 1, far too much for doubling windows."""
    env = gym.make(
        "ccgym/Path-v0",
        max_episode_steps=EPISODE_STEPS,
        emulator="random:train",
        features="scale_free",
        actions="log_window",
        reward=reward,
    )
    return RescaleAction(env, np.float32(-SPREADS), np.float32(SPREADS))


def main(iterations: int) -> float:
    """Trains, and returns the policy's mean log power on the twelve links."""
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    register_env("path", make_env)
    config = (
        PPOConfig()
        .environment("path", normalize_actions=False, clip_actions=True)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=FLOWS, rollout_fragment_length=STEPS)
        .training(
            train_batch_size=FLOWS * STEPS,
            minibatch_size=FLOWS * STEPS // 8,
            num_epochs=5,
            gamma=0.97,
            lambda_=0.95,
            lr=1e-3,
            grad_clip=0.5,
            use_kl_loss=False,
            vf_clip_param=np.inf,
        )
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64], fcnet_activation="tanh"))
        .debugging(seed=1, log_level="ERROR")
    )
    algorithm = config.build_algo()
    for iteration in range(1, iterations + 1):
        result = algorithm.train()
        if iteration % 6 == 0:  # episodes end in every second iteration
            told = result["env_runners"]["episode_return_mean"] / EPISODE_STEPS
            print(f"iteration {iteration}: reward {told:.3f}", flush=True)
    module = algorithm.get_module()

    def act(seen: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            outputs = module.forward_inference({"obs": torch.from_numpy(seen)})["action_dist_inputs"]
        mean = outputs[:, :1]  # the other half is the logarithm of the spread
        return (mean / SPREADS).clamp(-1, 1).numpy()

    power = mean_log_power(act, "scale_free", "log_window")
    algorithm.stop()
    ray.shutdown()
    print(f"mean log power {power:.2f}")
    return power


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=16, help="default: 16")
    main(parser.parse_args().iterations)
