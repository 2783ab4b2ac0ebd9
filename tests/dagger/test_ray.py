"""A run on a Ray cluster of two machines: the same weights as in this process, whoever is killed."""

import os
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from ccgym.dagger.train import train
from ccgym.envs.errors import InputError
from ccgym.training.config import TrainingConfig
from ccgym.training.executors import RayExecutor
from ccgym.training.runs.run_directory import RunDirectory

TinyConfig = Callable[..., TrainingConfig]

pytest.importorskip("ray.cluster_utils")

MINE = """import os
import signal
from pathlib import Path

import numpy as np
import torch

MARK = Path({mark!r})


class Features:
    size = 2

    def __init__(self, flows):
        self.slow, self.calls = np.zeros(flows), 0

    def observe(self, raw, action):
        self.calls += 1
        if self.calls == 30 and os.getpid() != {here} and not MARK.exists():
            MARK.touch()
            os.kill(os.getpid(), signal.SIGKILL)  # in the middle of an episode
        self.slow += (raw["mean_rtt_ms"] - self.slow) / 8
        return np.log1p(np.stack([raw["window_packets"], self.slow], axis=1))


class Net(torch.nn.Module):  # no stack of known layers
    def __init__(self, inputs, outputs):
        super().__init__()
        self.memory, self.head = torch.nn.GRUCell(inputs, 8), torch.nn.Linear(8, outputs)

    def initial_state(self, flows):
        return torch.zeros(flows, 8)

    def step(self, observation, state):
        state = self.memory(observation, state)
        return self.head(state) + observation[:, :1] / 100, state
"""


def die_once(mark: Path, answer: int) -> int:
    """The first call ends its worker as the kernel would when memory is short."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return answer


def test_what_a_killed_worker_was_at_is_done_by_another(cluster: str, tmp_path: Path) -> None:
    with RayExecutor(cluster) as executor:
        assert list(executor.map(die_once, [tmp_path / "killed"] * 3, range(3))) == [0, 1, 2]
    assert (tmp_path / "killed").exists()


def test_the_weights_are_those_of_one_process_though_workers_are_killed(
    cluster: str, tiny_config: TinyConfig, tmp_path: Path
) -> None:
    config = tiny_config(environments=130, iterations=6)  # three paths
    alone, shared = (RunDirectory(tmp_path / name, TrainingConfig) for name in ("alone", "shared"))
    train(config, alone, resume=False, workers=2)
    # Not above: Ray's workers import this module, and do not find those beside it.
    from ccgym.tests.ray_workers import workers_killed
    from ccgym.tests.weights import assert_same_weights

    with workers_killed(cluster, 2) as killed:
        train(config, shared, resume=False, workers=2, ray_address=cluster)
    assert killed
    ours, theirs = shared.load(), alone.load()
    assert ours.decisions == theirs.decisions
    assert_same_weights(ours.policy, theirs.policy)


def test_features_and_a_network_in_python_run_there_to_the_same_weights(
    cluster: str, tiny_config: TinyConfig, tmp_path: Path
) -> None:
    file, mark = tmp_path / "mine.py", tmp_path / "killed"
    file.write_text(MINE.format(mark=str(mark), here=os.getpid()))
    config = tiny_config(
        features=f"{file}:Features",
        network=f"{file}:Net",
        environments=100,  # two batches
        iterations=2,
        random_emulators=4,
        expert_iterations=1,
    )
    alone, shared = (RunDirectory(tmp_path / name, TrainingConfig) for name in ("alone", "shared"))
    train(config, shared, resume=False, workers=1, ray_address=cluster)
    assert mark.exists()
    train(config, alone, resume=False, workers=1)
    from ccgym.tests.weights import assert_same_weights  # not above, as before

    ours, theirs = shared.load(), alone.load()
    assert ours.best_criterion == theirs.best_criterion
    assert_same_weights(ours.policy, theirs.policy)


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "nowhere", "127.0.0.1:65537", "127.0.0.1:-1", "127.0.0.1:²"]
)
def test_an_address_without_a_cluster_is_refused(address: str) -> None:
    with pytest.raises(InputError, match=f"--ray {address}: no cluster there: "):
        RayExecutor(address)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (None, "timed out"),
        (b"", "is no head of a cluster"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "is no head of a cluster"),
    ],
)
def test_another_server_at_the_address_is_no_cluster(said: bytes | None, reason: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as threads:
        listener.settimeout(60)
        port = listener.getsockname()[1]
        answered = threads.submit(answer, listener, said)
        with pytest.raises(InputError, match=f"--ray 127.0.0.1:{port}: no cluster there: .*{reason}"):
            RayExecutor(f"127.0.0.1:{port}")
        answered.result()


def answer(listener: socket.socket, said: bytes | None) -> None:
    """Says so, or nothing, until the other side has gone."""
    # The other side goes as soon as it knows, without reading all of that.
    with listener.accept()[0] as connection, suppress(OSError):
        connection.settimeout(60)
        connection.recv(1000)
        if said is not None:
            connection.sendall(said)
            connection.shutdown(socket.SHUT_WR)
        connection.recv(1000)
