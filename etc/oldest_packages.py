"""Makes a copy of the project in build/oldest, with the oldest packages that setup.cfg claims: `make oldest`.

Packages that only the tests need are as new as these allow. Fails if the oldest version that can be installed
beside the others is newer than the claimed one: then the claim is untested.
"""

import configparser
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "oldest"
UV = ROOT / ".venv" / "bin" / "uv"
BUILD_TOOLS = {"cmake", "nanobind", "ninja", "numpy", "setuptools"}
TEST_TOOLS = ["hypothesis", "lz4", "pip", "pytest", "pytest-timeout", "pytest-xdist>=3.5,<4"]
EXTRAS = ("ray", "dataset", "track")
QUICK_S = 60
INSTALL_S = 3600
"""Time limit of the installation: PyTorch alone has gigabytes."""


def claims(setup: configparser.RawConfigParser) -> list[str]:
    """The requirements of setup.cfg: all packages with which ccgym is built or used."""
    extras = setup["options.extras_require"]
    tools = [each for each in extras["dev"].split() if name_of(each) in BUILD_TOOLS]
    optional = [each for extra in EXTRAS for each in extras[extra].split()]
    return [*setup["options"]["install_requires"].split(), *optional, *tools]


def name_of(requirement: str) -> str:
    """`minari` of `minari[hdf5]>=0.5.3,<0.6`, as registries spell it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^A-Za-z0-9_.-]", requirement)[0]).lower()


def least_version(requirement: str) -> str | None:
    """The oldest version that a requirement allows; None if it names none."""
    found = re.search(r">=([0-9.]+)", requirement)
    return found[1] if found else None


def untrue(wanted: Sequence[str], installed: Mapping[str, str]) -> list[str]:
    """The requirements of which a newer version than the oldest allowed is installed, with that version."""
    return [
        f"{each}: {installed[name_of(each)]} is the oldest beside the others"
        for each in wanted
        if not is_version(least_version(each), installed[name_of(each)])
    ]


def is_version(claimed: str | None, installed: str) -> bool:
    """Whether the versions agree: 2.9 is 2.9.0, and 77 is 77.0.1, the first release of that number."""
    return claimed is not None and [*claimed.split(".")] == installed.split(".")[: claimed.count(".") + 1]


def run(argv: Sequence[str | Path], most_s: float) -> str:
    """Runs a command and returns its stdout; its stderr goes to the terminal.

    Raises:
        SystemExit: the command failed, or took longer than `most_s`; after one line.
    """
    command = " ".join(map(str, argv[:3]))
    try:
        done = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=most_s, check=True)
    except subprocess.CalledProcessError as error:
        sys.exit(f"make oldest: {command}: failed with exit code {error.returncode}, see above")
    except subprocess.TimeoutExpired:
        sys.exit(f"make oldest: {command}: no end after {most_s:g} s; repeat it where the network is faster")
    return done.stdout


def check_uv() -> None:
    """Raises SystemExit, after one line, if uv is not installed."""
    if not os.access(UV, os.X_OK):
        print(f"make oldest: {UV}: not there, or no program: `make setup` installs it", file=sys.stderr)
        sys.exit(2)


def copy_project() -> None:
    """Copies the tracked files in their present state; earlier build output there is kept."""
    for name in run(["git", "ls-files", "-z"], QUICK_S).rstrip("\0").split("\0"):
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_symlink():
            (FOLDER / name).unlink(missing_ok=True)
        shutil.copy2(ROOT / name, FOLDER / name, follow_symlinks=False)


def install(python: Path, wanted: Sequence[str]) -> dict[str, str]:
    """Installs the packages; returns the versions of all that are installed then."""
    uv_pip: list[str | Path] = [UV, "pip"]
    options = ["--quiet", "--python", python]
    oldest = [*uv_pip, "install", *options, "--resolution", "lowest-direct", *wanted]
    run(oldest, INSTALL_S)
    frozen = run([*uv_pip, "freeze", *options], QUICK_S)
    packages = [line for line in frozen.splitlines() if "==" in line]
    (FOLDER / "build").mkdir(exist_ok=True)
    constraints = FOLDER / "build" / "constraints.txt"
    constraints.write_text("\n".join(packages))
    run([*uv_pip, "install", *options, "--constraint", constraints, *TEST_TOOLS], INSTALL_S)
    return {name_of(line): line.split("==")[1] for line in packages}


def main() -> None:
    """Copies the project, installs the packages, and reports requirements that are not true."""
    check_uv()
    setup = configparser.RawConfigParser()
    setup.read(ROOT / "setup.cfg")
    wanted = claims(setup)
    copy_project()
    interpreter = setup["options"]["python_requires"].removeprefix(">=")
    run([UV, "venv", "--quiet", "--clear", "--python", interpreter, FOLDER / ".venv"], INSTALL_S)
    print(f"==> Python {interpreter} and the oldest packages: {' '.join(wanted)}", flush=True)
    sys.exit("\n".join(untrue(wanted, install(FOLDER / ".venv" / "bin" / "python", wanted))) or 0)


if __name__ == "__main__":
    main()
