"""`ccgym reproduce rl-learns`: does reinforcement learning learn?"""

import argparse
from dataclasses import asdict

from ccgym.experiments.arguments import add_training_arguments
from ccgym.experiments.json_text import json_text
from ccgym.rl.config import RlConfig
from ccgym.training.config import config_file, load_config

DESCRIPTION = (
    "Trains a policy by its reward from several seeds, and compares their mean reward per step with that of "
    "a random policy, of one that never changes its action and of the one that training started from, if "
    "any, on emulators that training never sees. Exit code 1: the 95 % interval over seeds does not lie "
    "above all of them. "
    "Started again with the same --out, it goes on."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: what is trained, how often and how long."""
    add_training_arguments(parser, "aurora", "ppo or recurrent-ppo")


def run(args: argparse.Namespace) -> int:
    """Trains what is left to train, then evaluates."""
    overrides = {} if args.iterations is None else {"iterations": args.iterations}
    config = load_config(config_file(args.config), overrides, RlConfig)
    from ccgym.rl.learning import measure_learning  # late: imports PyTorch, which takes seconds

    learning = measure_learning(config, args.seeds, args.out, args.workers)
    low, high = learning.interval
    if args.json:
        print(json_text({**asdict(learning), "interval": [low, high], "learns": learning.learns}))
    else:
        print(f"reward {config.reward} per step, on emulators that training never sees")
        print(f"learnt  {low:12.3f} to {high:.3f} (95 % of {args.seeds} seeds)")
        print(f"random  {learning.random:12.3f}")
        print(f"fixed   {learning.fixed:12.3f}")
        if learning.initial is not None:
            print(f"initial {learning.initial:12.3f}")
    return 0 if learning.learns else 1
