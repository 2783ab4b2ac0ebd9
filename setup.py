"""Builds the C++ core, the endpoint programs and the binding through CMake; all else is in setup.cfg."""

import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent.resolve()
BUILD = ROOT / "build" / "release"


def build_with_cmake() -> None:
    """Compiles what has changed; the binding goes to BUILD/binding, the programs to BUILD/programs."""
    configure = [
        "cmake", "-S", str(ROOT), "-B", str(BUILD), "-G", "Ninja",
        f"-DCCGYM_BINDING_DIR={BUILD / 'binding'}",
        f"-DCCGYM_PROGRAMS_DIR={BUILD / 'programs'}",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]  # fmt: skip
    subprocess.run(configure, check=True)
    subprocess.run(["cmake", "--build", str(BUILD)], check=True)


def place(built: Path, folder: Path) -> None:
    """Puts every file of `built` into `folder`, each by a rename: a program that runs cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(built.iterdir()):
        there = folder / file.name
        if there.exists() and there.stat().st_mtime_ns == file.stat().st_mtime_ns:
            continue
        copy = folder / f".{file.name}.new"
        shutil.copy2(file, copy)
        copy.rename(there)


class CMakeBuild(build_ext):
    """Places what CMake built beside the Python modules: in the source tree, or where a wheel is made."""

    def run(self) -> None:
        build_with_cmake()
        in_place = self.inplace or self.editable_mode
        packages = ROOT if in_place else Path(self.build_lib) / "ccgym"
        place(BUILD / "binding", packages / "envs")
        place(BUILD / "programs", packages / "deploy" / "bin")


setup(ext_modules=[Extension("ccgym.envs._core", sources=[])], cmdclass={"build_ext": CMakeBuild})
