"""Who imports `ccgym.envs`, or reads the entry point, has the environments; nobody else pays for them."""

import subprocess
import sys


def fresh_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.strip()


def test_importing_the_package_registers() -> None:
    code = (
        "import ccgym.envs, gymnasium; "
        "print(gymnasium.make('ccgym/Path-v0', emulator='calibrated/nepal').unwrapped)"
    )
    assert fresh_python(code) == "<PathEnv<ccgym/Path-v0>>"


def test_gymnasium_itself_imports_the_package_that_an_id_names() -> None:
    code = "import gymnasium; print(gymnasium.make('ccgym.envs:ccgym/Path-v0').unwrapped)"
    assert fresh_python(code) == "<PathEnv<ccgym/Path-v0>>"


def test_the_entry_point_registers_for_whoever_reads_it() -> None:
    code = (
        "import gymnasium; from importlib.metadata import entry_points\n"
        "for point in entry_points(group='gymnasium.envs'): point.load()()\n"
        "print('ccgym/Path-v0' in gymnasium.registry)"
    )
    assert fresh_python(code) == "True"


def test_nothing_runs_at_the_start_of_python() -> None:
    code = "import gymnasium, sys; print([name for name in sys.modules if name.startswith('ccgym')])"
    assert fresh_python(code) == "[]"


def test_registering_loads_neither_the_twin_nor_torch() -> None:
    code = "import ccgym.envs, sys; print('ccgym.envs._core' in sys.modules, 'torch' in sys.modules)"
    assert fresh_python(code) == "False False"


def test_registering_twice_is_harmless() -> None:
    code = (
        "import gymnasium; from ccgym.envs.gym.registration import register_environments as again; again(); "
        "print(gymnasium.spec('ccgym/Path-v0').max_episode_steps)"
    )
    assert fresh_python(code) == "1000"
