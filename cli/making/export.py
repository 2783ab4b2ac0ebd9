"""`ccgym export`: a trained policy becomes a scheme that runs by itself."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from ccgym.configs.arguments import preference


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "export",
        help="make a trained policy a scheme",
        description="Writes the scheme folder NAME/ with the policy, the native sender and receiver and a "
        "wrapper that honours Pantheon's contract: it needs neither Python packages nor this project.",
    )
    parser.add_argument(
        "policy_or_run",
        metavar="RUN",
        type=Path,
        help="run directory of `ccgym train`, policy file, or model.zip that stable-baselines3 has saved "
        "(PPO, SAC, RecurrentPPO; MlpPolicy)",
    )
    parser.add_argument("--name", required=True, help="of the scheme: letters, digits and underscores")
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="folder to put NAME/ in (default: here, unless --pantheon is given)",
    )
    parser.add_argument(
        "--pantheon", metavar="DIR", type=Path, help="Pantheon checkout to install the scheme in"
    )
    parser.add_argument(
        "--preference",
        metavar="X",
        type=preference,
        help="of the scheme, from 0, low delay, to 1, full throughput (default: as in the policy, 0.5 as "
        "trained); a flow may have another: NAME.py sender IP PORT X",
    )
    parser.add_argument(
        "--features", metavar="SET", help="feature set of a model.zip (default: the one saved with it)"
    )
    parser.add_argument(
        "--actions", metavar="SET", help="action set of a model.zip (default: the one saved with it)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Exports, and prints what was written."""
    from ccgym.deploy.export import export_scheme
    from ccgym.envs.errors import InputError

    out = args.out or (Path() if args.pantheon is None else None)
    with TemporaryDirectory() as folder:
        policy = args.policy_or_run
        if policy.suffix == ".zip":
            policy = _converted(args, Path(folder))
        elif args.features or args.actions:
            raise InputError("--features and --actions go with a model.zip; leave them out")
        written = export_scheme(
            policy, args.name, out=out, pantheon=args.pantheon, preference=args.preference
        )
    for wrapper in written:
        print(f"wrote {wrapper}")
    return 0


def _converted(args: argparse.Namespace, folder: Path) -> Path:
    """The policy file of a model of stable-baselines3."""
    from ccgym.agents.sb3_archive import ModelError, read_archive
    from ccgym.envs.errors import InputError

    model: Path = args.policy_or_run
    try:
        read_archive(model)
    except ModelError as error:
        raise InputError(str(error)) from None
    # Late: PyTorch takes seconds, and a broken archive is refused without it.
    from ccgym.agents.policy_file import save_policy
    from ccgym.agents.policy_header import PolicyFileError
    from ccgym.agents.sb3_model import read_model

    try:
        module, spec = read_model(model, features=args.features, actions=args.actions)
        policy = folder / "policy.safetensors"
        save_policy(policy, module, spec, trained_on=f"stable-baselines3: {model.name}")
    except (ModelError, PolicyFileError) as error:
        text = str(error)
        raise InputError(text if text.startswith(str(model)) else f"{model}: {text}") from None
    return policy
