"""The same environment in real mahimahi shells: it agrees in kind with the twin and leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.gym.path_env import PathEnv
from ccgym.envs.gym.registration import PATH_ENV_ID, register_environments
from ccgym.envs.gym.vector_env import PathVectorEnv
from ccgym.envs.host.program_output import program_output
from ccgym.envs.mahimahi.shells import MahimahiError
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.tests.processes import command_of, descendants, wait_until

register_environments()

STAY = 2


def spec(name: str = "test", rate_mbps: float = 6.0, delay_ms: int = 20) -> EmulatorSpec:
    return EmulatorSpec.model_validate(
        {"name": name, "delay_ms": delay_ms, "uplink": {"rate_mbps": rate_mbps}}
    )


def commands() -> dict[int, str]:
    """The processes that this one has started, and theirs, by their command line."""
    return {pid: command for pid in descendants(os.getpid()) if (command := command_of(pid))}


def pid_of(part: str) -> int:
    return next(pid for pid, command in commands().items() if part in command.split()[0])


@pytest.fixture(autouse=True)
def nothing_stays_behind() -> Iterator[None]:
    before = commands().keys()
    yield
    wait_until(lambda: commands().keys() <= before, "the end of what was started")


def stay_for(env: PathEnv, steps: int) -> None:
    for _ in range(steps):
        env.step(STAY)


def means(env: gymnasium.Env[Any, Any], steps: int) -> dict[str, float]:
    """Of observations and info over `steps` at the window that three openings by 10 packets bring."""
    env.reset(seed=1)
    seen = []
    for step in range(steps):
        observation, reward, _, _, info = env.step(3 if step < 3 else STAY)
        seen.append({**{str(i): value for i, value in enumerate(observation)}, "reward": reward, **info})
    kept = [row for row in seen[steps // 2 :] if row["delay_ms"] > 0]
    return {name: float(np.mean([row[name] for row in kept])) for name in kept[0]}


def test_agrees_in_kind_with_the_twin() -> None:
    live = gymnasium.make(PATH_ENV_ID, emulator=spec(), backend="mahimahi")
    real, twin = means(live, 200), means(PathEnv(emulator=spec()), 200)
    live.close()
    assert real.keys() == twin.keys()
    assert real["cwnd_packets"] == twin["cwnd_packets"] == 40
    assert real["delay_ms"] > 2 * spec().delay_ms  # a round trip in the shells and a queue
    assert real["0"] > 0  # queueing delay: the window is twice what the path holds
    assert 0 < real["1"] < 1.1 * twin["1"]  # delivery rate
    assert real["3"] == twin["3"]  # window
    assert real["loss"] == twin["loss"] == 0
    assert np.isnan(real["queue_packets"])


def test_several_run_at_once_each_over_its_own_path() -> None:
    emulators = [spec("slow", 3.0, 10), spec("fast", 12.0, 30)]
    envs = PathVectorEnv(
        2, 60, emulator=emulators, backend="mahimahi", features="aurora", actions="rate", reward="aurora"
    )
    envs.reset(seed=1)
    delays_ms = []
    for step in range(61):  # over the end of an episode
        observations, _, _, truncations, info = envs.step(np.zeros((2, 1), dtype=np.float32))
        assert truncations.all() == (step == 59)
        assert observations in envs.observation_space
        if step != 60:  # which begins the next episode
            delays_ms.append(info["delay_ms"])
    slow, fast = np.median(delays_ms, axis=0)
    assert slow >= 20
    assert fast >= 60
    envs.close()


def nat_rules_of(shells: Iterable[int]) -> list[str]:
    """Of these shells alone, whose marks are their ids: other tests have shells, too."""
    marks = {f"0x{pid:x}" for pid in shells}
    rules = program_output(["iptables", "-t", "nat", "-S"]).splitlines()
    return [rule for rule in rules if marks & set(re.findall(r"0x[0-9a-f]+", rule))]


def test_temporary_files_may_have_spaces_in_their_names(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (open_folder / "with space").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(open_folder / "with space"))
    env = gymnasium.make(PATH_ENV_ID, emulator=spec(), backend="mahimahi")
    env.reset(seed=1)
    (socket_file,) = (open_folder / "with space").rglob("gym.socket")
    assert socket_file.stat().st_mode & 0o022 == 0  # its owner's alone
    stay_for(env, 20)  # type: ignore[arg-type]
    env.close()
    assert list((open_folder / "with space").iterdir()) == []


@pytest.mark.parametrize("killed", ["ccgym-sender", "mm-link", "mm-delay", "ccgym-receiver"])
def test_a_killed_program_ends_the_episode_with_a_clear_error(killed: str) -> None:
    env = PathEnv(emulator=spec("doomed"), backend="mahimahi")
    env.reset()
    env.step(STAY)
    shells = list(commands())
    assert nat_rules_of(shells) != []
    folder = Path(f"/proc/{pid_of('ccgym-sender')}/cwd").readlink()
    assert folder.name.startswith("ccgym-shell-")
    os.kill(pid_of(killed), signal.SIGKILL)
    with pytest.raises(
        MahimahiError, match=r"doomed: the \w+( or its mahimahi shells)? ended before its flow"
    ):
        stay_for(env, steps=300)
    assert not folder.exists()
    assert nat_rules_of(shells) == []
    with pytest.raises(MahimahiError, match="doomed: the flow does not stand: reset the environment"):
        env.step(STAY)
    env.reset()
    env.step(STAY)
    env.close()


def test_a_forgotten_environment_takes_its_shells_along() -> None:
    code = (
        "from ccgym.envs.gym.path_env import PathEnv\n"
        "env = PathEnv(backend='mahimahi'); env.reset(); env.step(2)"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)


def test_an_unknown_backend_is_told() -> None:
    with pytest.raises(InputError, match="backend: 'ns3' is unknown; known are twin, mahimahi"):
        PathEnv(backend="ns3")
