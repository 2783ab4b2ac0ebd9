"""PPO with TorchRL, on the whole batch of flows behind one GymWrapper.

Mean log power on the twelve links after 94 s of a core: -2.64; indigo2 has -2.40, random actions -5.76.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from sb3_ppo import reward
from tensordict import TensorDict
from tensordict.nn import NormalParamExtractor, TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import MLP, ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE
from twelve_links import mean_log_power

FLOWS, STEPS, EPISODE_STEPS, INPUTS = 96, 200, 400, 30
EPOCHS, BATCHES = 5, 8


def make_actor(spec: object) -> ProbabilisticActor:
    """Two hidden layers; the actions begin near 0, with a spread of a fifth."""
    outputs = nn.Sequential(
        MLP(in_features=INPUTS, out_features=2, num_cells=[64, 64], activation_class=nn.Tanh),
        NormalParamExtractor(scale_mapping="biased_softplus_0.2"),
    )
    nn.init.normal_(outputs[0][-1].weight, std=0.01)
    return ProbabilisticActor(
        TensorDictModule(outputs, in_keys=["observation"], out_keys=["loc", "scale"]),
        in_keys=["loc", "scale"],
        spec=spec,
        distribution_class=TanhNormal,
        return_log_prob=True,
    )


def main(iterations: int) -> float:
    """Trains, and returns the policy's mean log power on the twelve links."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    envs = gym.make_vec(
        "ccgym/Path-v0",
        num_envs=FLOWS,
        max_episode_steps=EPISODE_STEPS,
        emulator="random:train",
        features="scale_free",
        actions="log_window",
        reward=reward,
        threads=2,
        autoreset_mode="SameStep",
    )
    env = GymWrapper(envs)
    env.set_seed(1)
    actor = make_actor(env.action_spec)
    critic = ValueOperator(
        MLP(in_features=INPUTS, out_features=1, num_cells=[64, 64], activation_class=nn.Tanh)
    )
    advantage = GAE(gamma=0.97, lmbda=0.95, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_bonus=False, loss_critic_type="l2")
    optimiser = torch.optim.Adam(loss.parameters(), lr=5e-4, eps=1e-5)
    measured = Collector(env, actor, frames_per_batch=FLOWS * STEPS, total_frames=iterations * FLOWS * STEPS)
    for iteration, batch in enumerate(measured, 1):
        with torch.no_grad():
            advantage(batch)
        keys = ["observation", "action", "action_log_prob", "advantage", "value_target"]
        rows = batch.select(*keys).reshape(-1)
        for _ in range(EPOCHS):
            for part in torch.randperm(len(rows)).chunk(BATCHES):
                terms = loss(rows[part])
                optimiser.zero_grad()
                (terms["loss_objective"] + terms["loss_critic"]).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimiser.step()
        if iteration % 10 == 0:
            print(f"iteration {iteration}: reward {batch['next', 'reward'].mean():.3f}", flush=True)
    measured.shutdown()

    def act(observed: np.ndarray) -> np.ndarray:
        seen = TensorDict(observation=torch.from_numpy(observed), batch_size=[len(observed)])
        with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
            return actor(seen)["action"].numpy()

    power = mean_log_power(act, "scale_free", "log_window")
    print(f"mean log power {power:.2f}")
    return power


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=24, help="default: 24")
    main(parser.parse_args().iterations)
