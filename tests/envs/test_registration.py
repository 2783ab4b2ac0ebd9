"""Gymnasium finds the environments of the installed package by itself."""

import subprocess
import sys


def fresh_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.strip()


def test_no_import_is_needed() -> None:
    code = "import gymnasium; print(gymnasium.make('ccgym/Path-v0', emulator='calibrated/nepal').unwrapped)"
    assert fresh_python(code) == "<PathEnv<ccgym/Path-v0>>"


def test_importing_gymnasium_does_not_load_the_twin() -> None:
    code = "import gymnasium, sys; print('ccgym.envs._core' in sys.modules, 'torch' in sys.modules)"
    assert fresh_python(code) == "False False"


def test_registering_twice_is_harmless() -> None:
    code = (
        "import gymnasium; from ccgym.envs.registration import register_environments as again; again(); "
        "print(gymnasium.spec('ccgym/Path-v0').max_episode_steps)"
    )
    assert fresh_python(code) == "1000"
