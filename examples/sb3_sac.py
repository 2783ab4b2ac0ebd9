"""SAC of stable-baselines3, which learns off-policy; then `ccgym export sac.zip --name my_sac`.

Mean log power on the twelve links after 25 s of a core: -2.73; indigo2 has -2.40, random actions -5.76. The
least steady of the examples: with 800 steps, seeds 2 and 3 end at -5.38 and -3.70.
"""

import argparse

import gymnasium as gym
from ccgym.envs.gym.sb3_vec_env import PathSb3VecEnv
from sb3_ppo import reward
from stable_baselines3 import SAC
from twelve_links import mean_log_power

FLOWS, EPISODE_STEPS = 64, 400


def main(steps: int) -> float:
    """Trains for `steps` steps of all flows, saves, and returns the mean log power on the twelve links."""
    envs = gym.make_vec(
        "ccgym/Path-v0",
        num_envs=FLOWS,
        max_episode_steps=EPISODE_STEPS,
        emulator="random:train",
        features="scale_free",
        actions="log_window",
        reward=reward,
    )
    model = SAC(
        "MlpPolicy",
        PathSb3VecEnv(envs),
        learning_starts=20 * FLOWS,
        batch_size=512,
        gradient_steps=2,
        gamma=0.97,
        ent_coef=0.01,
        learning_rate=lambda left: 1e-3 * left,  # otherwise the last steps undo what was learnt
        policy_kwargs={"net_arch": [64, 64]},
        seed=1,
        device="cpu",
    )
    model.learn(steps * FLOWS)
    model.save("sac.zip")
    power = mean_log_power(
        lambda seen: model.predict(seen, deterministic=True)[0], "scale_free", "log_window"
    )
    print(f"mean log power {power:.2f}")
    return power


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600, help="default: 600")
    main(parser.parse_args().steps)
