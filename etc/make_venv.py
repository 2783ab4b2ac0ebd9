"""Makes .venv with all packages that setup.cfg asks for; updates it if it exists.

`make_venv.py tools` makes it with what the C++ build needs; `make_venv.py` adds the other packages while the
build compiles. Runs on any Python 3, so that it can say which version is needed.
"""

import configparser
import importlib.util
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv"
BUILD_TOOLS = ("cmake", "nanobind", "ninja", "numpy", "setuptools")
IMPORT_ALL = """
from contextlib import suppress
from importlib import import_module
from importlib.metadata import packages_distributions
from re import sub
from sys import argv

def alike(names):  # PyYAML is asked for as pyyaml, stable_baselines3 as stable-baselines3
    return {sub("[-_.]+", "-", name).lower() for name in names}

asked = alike(argv[1:])
for module, packages in packages_distributions().items():
    if alike(packages) & asked and module.isidentifier():
        with suppress(Exception):
            import_module(module)
"""
"""Imports what the packages named hold, but for what does not come alone."""


def main():
    # type: () -> None
    setup = configparser.RawConfigParser()
    setup.read(str(ROOT / "setup.cfg"))
    wanted = setup["options"]["install_requires"].split() + setup["options.extras_require"]["dev"].split()
    if sys.argv[1:] == ["tools"]:
        check_python(setup["options"]["python_requires"])
        print("==> .venv with Python " + sys.version.split()[0], flush=True)
        venv.create(str(FOLDER), with_pip=True, symlinks=True, clear=is_of_another())
        wanted = [requirement for requirement in wanted if name_of(requirement) in BUILD_TOOLS]
    print("==> its packages: " + " ".join(wanted), flush=True)
    failed = install(wanted)
    if not failed:
        compile_packages(wanted)
    sys.exit(failed)


def name_of(requirement):
    # type: (str) -> str
    return re.split("[^A-Za-z0-9_.-]", requirement)[0]


def is_of_another():
    # type: () -> bool
    """Whether .venv was made with another interpreter than this one."""
    python = FOLDER / "bin" / "python"
    if not python.is_symlink() or python.resolve() == Path(sys.executable).resolve():
        return False
    cache = ROOT / "build" / "release" / "CMakeCache.txt"  # it remembers where that one's headers are
    if cache.exists():
        cache.unlink()
    return True


def install(wanted):
    # type: (list[str]) -> int
    """uv takes half a minute where pip takes two. Only pip knows what it was told of a package index.

    uv trusts its own certificates; some machines have that of their index in the system's store only.
    """
    python = str(FOLDER / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install"]
    if subprocess.call([*pip, "--quiet", "uv"]) == 0:
        uv = [str(FOLDER / "bin" / "uv"), "pip", "install", "--no-progress", "--python", python]
        for certificates in ({}, {"UV_SYSTEM_CERTS": "1"}):
            if subprocess.call(uv + wanted, env=dict(os.environ, **certificates)) == 0:
                return 0
        print("==> uv could not: with pip", flush=True)
    return subprocess.call(pip + wanted)


def compile_packages(wanted):
    # type: (list[str]) -> None
    """uv leaves that to the first import, and to each where PYTHONDONTWRITEBYTECODE is set.

    By importing each, for most of what they hold is never imported.
    """
    print("==> what is imported of them is compiled", flush=True)
    names = [name_of(requirement) for requirement in wanted]
    keeping = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    python = str(FOLDER / "bin" / "python")
    subprocess.call([python, "-c", IMPORT_ALL, *names], env=keeping)


def check_python(required):
    # type: (str) -> None
    version = tuple(int(part) for part in required[len(">=") :].split("."))
    if sys.version_info < version:
        sys.exit(
            "{} is Python {}, ccgym needs {}: give another one, as in `make setup PYTHON=python3.11`".format(
                sys.executable, sys.version.split()[0], required
            )
        )
    if importlib.util.find_spec("ensurepip") is None:
        sys.exit("{} has no ensurepip: install python3-venv".format(sys.executable))


if __name__ == "__main__":
    main()
