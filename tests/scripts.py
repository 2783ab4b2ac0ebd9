"""Scripts of etc/, which are in no package, as modules."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ETC = Path(__file__).resolve().parents[1] / "etc"


def load_script(name: str) -> ModuleType:
    """Runs etc/NAME.py, but for what it does when it is the program, and returns the module."""
    spec = importlib.util.spec_from_file_location(name, ETC / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where its dataclasses look for it
    spec.loader.exec_module(module)
    return module
