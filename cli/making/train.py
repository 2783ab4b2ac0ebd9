"""`ccgym train`: trains a policy on emulators."""

import argparse
import math
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccgym.configs import config_files
from ccgym.configs.arguments import count, device, number_or_nan, seed

from .before_training import check_folder, check_training

if TYPE_CHECKING:
    from ccgym.training.config import Config
    from ccgym.training.runs.run_directory import RunDirectory

DEFAULT_CONFIGS = {"dagger": "indigo2", "ppo": "aurora", "recurrent-ppo": "indigo-power"}
"""The configuration of an algorithm when none is given."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the sub-command to the command line."""
    parser = subparsers.add_parser(
        "train",
        help="train a policy on emulators",
        description="Trains a policy on emulators and keeps the best one as DIR/best/policy.safetensors. "
        "After Ctrl-C the run can be continued with --resume.",
    )
    _add_settings(parser)
    _add_run(parser)
    parser.set_defaults(run=run)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    """What is trained, and on what: by the configuration and what changes it."""
    parser.add_argument(
        "--config",
        default=None,
        help=f"training configuration: {', '.join(config_files('training'))}, or a file (default: indigo2)",
    )
    parser.add_argument(
        "--emulators",
        default=None,
        help="groups and names of `ccgym emulators`, random:train:N, file:PATH, comma-separated "
        "(default: the config's)",
    )
    parser.add_argument(
        "--from-calibration",
        type=Path,
        default=None,
        metavar="FILE",
        help="emulator file of ccgym calibrate (.yaml): also train on the ensemble of emulators beside it",
    )
    parser.add_argument(
        "--algo",
        choices=list(DEFAULT_CONFIGS),
        default=None,
        help="training algorithm (default: the config's); without --config, each has one of its own: "
        + ", ".join(DEFAULT_CONFIGS.values()),
    )
    parser.add_argument(
        "--init",
        default=None,
        metavar="FILE",
        help="policy file with the initial weights, for ppo or recurrent-ppo (default: the config's)",
    )
    parser.add_argument(
        "--set",
        dest="settings",
        type=_setting,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a setting of the config, in YAML: --set features=indigo --set 'hidden=[32]' "
        "--set expert_iterations=20 --set curriculum_iterations=50; config.yaml of any run has all of them. "
        "features, links, network (not with recurrent-ppo), reward (not with dagger) and oracle (with "
        "dagger) also take code of yours as MODULE:NAME or FILE.py:NAME; modules of the current folder are "
        "found: see --list",
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    """Where a run is kept, how long it lasts, and what computes it."""
    parser.add_argument(
        "--out", type=Path, default=None, help="folder of the run (default: runs/NAME of the config)"
    )
    parser.add_argument(
        "--resume", action="store_true", help="continue the run in --out, to the same weights"
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help="list the built-in values of each key that also takes code of yours",
    )
    parser.add_argument("--workers", type=count, default=os.cpu_count(), help="threads (default: all cores)")
    parser.add_argument(
        "--ray",
        default=None,
        metavar="ADDRESS",
        help="HOST:PORT of a Ray cluster, or auto: environments and oracle searches run there",
    )
    parser.add_argument(
        "--seed", type=seed, default=None, help="the same seed gives the same weights (default: the config's)"
    )
    parser.add_argument(
        "--minutes", type=_positive_float, default=math.inf, help="stop after so many minutes"
    )
    parser.add_argument(
        "--device",
        type=device,
        default="cpu",
        metavar="D",
        help="where networks are fitted: cpu (default), cuda or cuda:N",
    )
    parser.add_argument(
        "--track",
        default="tensorboard",
        metavar="A,B",
        help="where metrics go besides metrics.jsonl: tensorboard (default), wandb, mlflow",
    )


def run(args: argparse.Namespace) -> int:
    """Runs the sub-command; returns the exit code."""
    from ccgym.envs.errors import InputError

    if args.list:
        _print_known()
        return 0
    from ccgym.training.config import TrainingConfig, config_file, config_file_of_run

    file = config_file(DEFAULT_CONFIGS[args.algo or "dagger"] if args.config is None else args.config)
    if args.resume and args.out is not None and args.config is None:
        file = config_file_of_run(args.out)
    algorithm = _algorithm_of(file)
    if args.algo not in (None, algorithm):
        raise InputError(f"--algo {args.algo}: {file} is a configuration of {algorithm}")
    if args.resume and args.out is not None:
        begun = _algorithm_of(config_file_of_run(args.out))
        if begun != algorithm:
            raise InputError(f"--config {args.config}: is of {algorithm}, the run in {args.out} of {begun}")
    if algorithm == "dagger":
        run = _train(args, file, TrainingConfig, partial(_train_by_imitation, ray_address=args.ray))
    else:
        from ccgym.rl.config import RlConfig

        run = _train(args, file, RlConfig, partial(_train_by_reward, ray_address=args.ray))
    _print_result(run)
    return 0


def _algorithm_of(file: Path) -> str:
    from ccgym.training.config import read_options

    return str(read_options(file).get("algo", "dagger"))


def _print_result(run: "RunDirectory[Any]") -> None:
    from ccgym.evaluation.sessions.provenance import provenance
    from ccgym.training.rollouts import summarise_groups
    from ccgym.training.runs.run_directory import SECONDS

    best, last = run.metrics_of_best_policy(), run.final_metrics()
    file = run.best_policy if run.best_policy.exists() else run.best_network
    took = f"{last['iteration'] + 1:.0f} iterations in {last[SECONDS] / 60:.1f} min"
    print(f"{took} on {provenance()['machine']}")
    print(f"the best policy is {file}, of iteration {best['iteration'] + 1:.0f}")
    print("\n".join(summarise_groups(best)))


def _print_known() -> None:
    """One line for each key: its names, and the shape of what may stand in their place."""
    from ccgym.agents.stack import KNOWN_LAYERS
    from ccgym.envs import _core
    from ccgym.envs.gym.rewards import REWARDS, VECTOR

    single = [name for name in REWARDS if name != VECTOR]
    known = {
        "config": [*config_files("training"), "or FILE.yaml"],
        "algo": [*DEFAULT_CONFIGS],
        "features": [*_core.POLICY_FEATURES, "or a class: size, __init__(flows), observe(raw, action)"],
        "actions": [*_core.POLICY_ACTIONS],
        "reward": [*single, "log_power", "or a function: (info, link_mbps, empty_rtt_ms) -> (flows,)"],
        "architecture": ["lstm", "mlp"],
        "network": [
            "a torch.nn.Module: __init__(inputs, outputs), initial_state(flows), step(observation, state)"
        ],
        "network, native": [*KNOWN_LAYERS],
        "oracle": [
            "a function: (spec, preference, steps) -> (steps,) windows in packets, one for each 10 ms"
        ],
        "links": ["a function: numpy Generator -> EmulatorSpec"],
        "raw": [*_core.RAW_FEATURES],
    }
    for key, names in known.items():
        print(f"{key + ':':<17} {', '.join(names)}")


def _train_by_imitation(*args: Any, **options: Any) -> None:
    from ccgym.dagger.train import train

    train(*args, **options)


def _train_by_reward(*args: Any, **options: Any) -> None:
    from ccgym.rl.train import train

    train(*args, **options)


def _train(
    args: argparse.Namespace, file: Path, kind: "type[Config]", train: Callable[..., None]
) -> "RunDirectory[Any]":
    """Trains what is left to train; returns the run."""
    from ccgym.envs.host.folder_lock import folder_lock
    from ccgym.training.runs.tracking import known_trackers

    config = _validated(args, file, kind)
    if args.ray is not None:
        from ccgym.training.executors import check_cluster

        check_cluster(args.ray)
    trackers, folder = known_trackers(args.track), _folder(args, config)
    with folder_lock(folder):
        # With these comes PyTorch, which takes seconds: what can be validated without it has been.
        from ccgym.training.device import device_of
        from ccgym.training.runs.run_directory import RunDirectory

        device, run = device_of(args.device), RunDirectory(folder, kind, trackers)
        if args.resume or not run.is_finished(config):
            train(
                config,
                run,
                resume=args.resume,
                workers=args.workers,
                minutes=args.minutes,
                device=device,
            )
    return run


def _validated(args: argparse.Namespace, file: Path, kind: "type[Config]") -> "Config":
    """The configuration, of the file and the flags; of a run that goes on, its own."""
    from ccgym.envs.errors import InputError
    from ccgym.training.config import RENAMED, config_file_of_run, load_config

    emulators = args.emulators
    if args.from_calibration is not None:
        from ccgym.calibration.calibrate import posterior_of

        of_config = emulators or load_config(file, dict(args.settings), kind).emulators
        emulators = f"{of_config},file:{posterior_of(args.from_calibration)}"
    given = {"emulators": emulators, "seed": args.seed, "init": args.init}
    flags = {key: f"--{key} {value}" for key, value in given.items() if value is not None}
    flags |= {key: f"--set {key}={value}" for key, value in args.settings}
    overrides: dict[str, Any] = dict(args.settings)
    overrides |= {key: value for key, value in given.items() if value is not None}
    config = load_config(file, overrides, kind)
    if args.resume:
        folder = _folder(args, config)
        kept = load_config(config_file_of_run(folder), {}, kind)
        for key, flag in flags.items():
            name = RENAMED.get(key, key)
            if getattr(kept, name) != getattr(config, name):
                raise InputError(f"{flag}: the run in {folder} has {getattr(kept, name)}; leave it out")
        if args.config is not None and kept != config:
            raise InputError(f"--config {args.config}: the run in {folder} has other settings; leave it out")
        config = kept
    check_training(config)
    check_folder(_folder(args, config), config, resume=args.resume)
    return config


def _folder(args: argparse.Namespace, config: "Config") -> Path:
    folder: Path = args.out or Path("runs") / config.name
    return folder


def _setting(text: str) -> tuple[str, Any]:
    """A setting's name and its value."""
    from ccgym.envs.errors import InputError, excerpt
    from ccgym.envs.outside_files import parse_yaml

    key, separator, value = text.partition("=")
    try:
        parsed = parse_yaml(value, key)
    except InputError:
        parsed = None
    if not (key and separator) or (parsed is None and value not in ("null", "~")):
        raise argparse.ArgumentTypeError(
            f"{excerpt(text)!r} is not KEY=VALUE with a value in YAML, as in hidden=[32]"
        )
    return key, parsed


def _positive_float(text: str) -> float:
    value = number_or_nan(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number above 0")
    return value
