"""Makes a trained policy a scheme: a folder that runs by itself, also inside a Pantheon checkout.

NAME/
  NAME.py                the wrapper, which honours Pantheon's contract; needs /bin/sh only
  bin/ccgym-sender       static programs for the architecture they were built on
  bin/ccgym-receiver
  policy.safetensors
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ccgym.agents.preference import write_with_preference
from ccgym.envs.errors import InputError
from ccgym.envs.outside_files import MOST_TEXT_BYTES, read_bytes

from .pantheon import PantheonCheckout
from .staging import Staging

_HERE = Path(__file__).resolve().parent
PROGRAM_FOLDER = _HERE / "bin"
PROGRAMS = ("ccgym-sender", "ccgym-receiver")
CHECK_TIMEOUT_S = 30

_WRAPPER = _HERE / "scheme" / "wrapper.sh"
_WRAPPER_MARK = b"# ccgym scheme wrapper:"


@dataclass(frozen=True)
class Export:
    """What a scheme is made of."""

    name: str
    policy: Path
    preference: float | None
    """Of flows that are not told otherwise; None: as in the policy."""

    @property
    def controller(self) -> str:
        """The policy as a sender's scheme."""
        return f"policy:{self.policy}" + ("" if self.preference is None else f":{self.preference}")


def export_scheme(
    run: Path, name: str, *, out: Path | None, pantheon: Path | None, preference: float | None = None
) -> list[Path]:
    """Writes the scheme folder `out/name`, installs the scheme in the checkout `pantheon`, or both.

    All or nothing is written. In a Pantheon checkout it takes `third_party/NAME/`,
    `src/wrappers/NAME.py` and an entry of `src/config.yml`. An earlier export of this name is replaced.

    Args:
        run: A run directory or a policy file.
        name: Of the scheme: letters, digits and underscores.
        out: An existing folder, or None.
        pantheon: The root of a checkout, or None.
        preference: Of the scheme, from low delay (0) to full throughput (1); None: as
            in the policy.

    Returns:
        What to run: the wrappers.

    Raises:
        InputError: no such run, a policy that cannot be run or takes no preference, a bad name, no such
            folder or checkout, a place that is taken by something else or cannot be written to.
    """
    export = Export(name, find_policy(run), preference)
    check_name(name)
    try:
        with Staging() as staging:
            wrappers = []
            if out is not None:
                wrappers.append(_stage_folder(staging, export, out))
            if pantheon is not None:
                wrappers.append(_stage_in_pantheon(staging, export, PantheonCheckout(pantheon)))
            staging.commit()
    except PermissionError as error:
        raise InputError(f"{error.filename}: may not be written") from None
    return wrappers


def find_policy(run: Path) -> Path:
    """The policy file of a run directory, or `run` itself when it is a file."""
    if run.is_file():
        return run
    policy = run / "best" / "policy.safetensors"
    if policy.is_file():
        return policy
    if (run / "best" / "network.pt").is_file():
        from ccgym.agents.stack import KNOWN_LAYERS

        raise InputError(
            f"{run}: what it trained only runs in Python; native are features indigo, scale_free, aurora, "
            f"raw and stacks of {', '.join(KNOWN_LAYERS)}"
        )
    if run.is_dir():
        raise InputError(
            f"{run}: best/policy.safetensors is missing: a run directory of `ccgym train` has it"
        )
    raise InputError(f"{run}: no such run directory or policy file")


def check_name(name: str) -> None:
    """Raises InputError for what cannot be a scheme's name."""
    if not re.fullmatch(r"[A-Za-z0-9_]+", name):
        raise InputError(f"--name '{name}': letters, digits and underscores would be right")


def is_ours(wrapper: Path) -> bool:
    """Whether a wrapper was written by an export."""
    return wrapper.is_file() and _WRAPPER_MARK in read_bytes(wrapper, "the wrapper", MOST_TEXT_BYTES)


def _stage_folder(staging: Staging, export: Export, parent: Path) -> Path:
    if not parent.is_dir():
        raise InputError(f"{parent}: no such folder")
    target = parent / export.name
    wrapper = target / f"{export.name}.py"
    if target.exists() and not is_ours(wrapper):
        raise InputError(f"{target} is no ccgym scheme and stays: choose another --name")
    _write_scheme(staging.stage(target), export)
    return wrapper


def _stage_in_pantheon(staging: Staging, export: Export, checkout: PantheonCheckout) -> Path:
    name = export.name
    wrapper, programs = checkout.wrapper(name), checkout.programs(name)
    ours = is_ours(wrapper) and is_ours(programs / f"{name}.py")
    if not ours and (wrapper.exists() or programs.exists() or name in checkout.schemes):
        raise InputError(f"{checkout.root} has a scheme '{name}' that is not ccgym's: choose another --name")
    _write_scheme(staging.stage(programs), export)
    _copy_executable(_WRAPPER, staging.stage(wrapper))
    if name not in checkout.schemes:
        checkout.write_config_with(name, staging.stage(checkout.config))
    return wrapper


def _write_scheme(folder: Path, export: Export) -> None:
    (folder / "bin").mkdir(parents=True)
    for program in PROGRAMS:
        _copy_executable(PROGRAM_FOLDER / program, folder / "bin" / program)
    _copy_executable(_WRAPPER, folder / f"{export.name}.py")
    _check_policy(folder / "bin" / "ccgym-sender", export)
    policy = folder / "policy.safetensors"
    if export.preference is None:
        shutil.copyfile(export.policy, policy)
    else:
        write_with_preference(export.policy, policy, export.preference)
    for path, mode in ((folder, 0o755), (folder / "bin", 0o755), (policy, 0o644)):
        path.chmod(mode)


def _copy_executable(source: Path, target: Path) -> None:
    if not source.is_file():
        raise InputError(f"{source} is missing: `make setup` builds it")
    shutil.copyfile(source, target)
    target.chmod(0o755)


def _check_policy(sender: Path, export: Export) -> None:
    """Asks the very program that will run the policy."""
    argv = [str(sender), "--check", "--scheme", export.controller]
    checked = subprocess.run(argv, capture_output=True, text=True, timeout=CHECK_TIMEOUT_S, check=False)
    if checked.returncode != 0:
        raise InputError(checked.stderr.strip().removeprefix("ccgym-sender: "))
