"""Builds the C++ core, the endpoint programs and the Python binding through CMake; all else is in setup.cfg."""

import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent.resolve()


class CMakeBuild(build_ext):
    """Runs CMake once; the binding lands beside the extension's package, the programs in deploy/bin."""

    def build_extension(self, ext: Extension) -> None:
        binding_folder = Path(self.get_ext_fullpath(ext.name)).parent.resolve()
        programs_folder = binding_folder.parent / "deploy" / "bin"
        build_folder = ROOT / "build" / "release"
        configure = [
            "cmake", "-S", str(ROOT), "-B", str(build_folder), "-G", "Ninja",
            f"-DCCGYM_BINDING_DIR={binding_folder}",
            f"-DCCGYM_PROGRAMS_DIR={programs_folder}",
            f"-DPython_EXECUTABLE={sys.executable}",
        ]
        subprocess.run(configure, check=True)
        subprocess.run(["cmake", "--build", str(build_folder)], check=True)


setup(ext_modules=[Extension("ccgym.envs._core", sources=[])], cmdclass={"build_ext": CMakeBuild})
