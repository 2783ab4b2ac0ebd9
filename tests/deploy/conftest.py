"""A policy to run, and two hosts to run between."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from ccgym.envs.host.two_hosts import TwoHosts
from safetensors.numpy import save_file

HIDDEN, INPUTS, ACTIONS = 32, 9, 5


@pytest.fixture
def steady_policy(tmp_path: Path) -> Path:
    """A policy file whose action is always the third, "leave the window": 10 packets for ever."""
    tensors = {
        "lstm.weight_ih_l0": np.zeros((4 * HIDDEN, INPUTS), np.float32),
        "lstm.weight_hh_l0": np.zeros((4 * HIDDEN, HIDDEN), np.float32),
        "lstm.bias_ih_l0": np.zeros(4 * HIDDEN, np.float32),
        "lstm.bias_hh_l0": np.zeros(4 * HIDDEN, np.float32),
        "linear.weight": np.zeros((ACTIONS, HIDDEN), np.float32),
        "linear.bias": np.array([0, 0, 1, 0, 0], np.float32),
    }
    metadata = {
        "format_version": 1,
        "architecture": {"kind": "lstm", "inputs": INPUTS, "hidden": HIDDEN, "outputs": ACTIONS},
        "feature_set": "indigo",
        "normalisers": [200.0, 200.0, 200.0, 5000.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        "actions": "indigo",
        "step_ms": 10.0,
        "initial_cwnd": 10.0,
        "limits": {"min_cwnd_packets": 2.0, "max_cwnd_packets": 1000.0},
        "trained_on": "by hand",
        "git": "",
    }
    file = tmp_path / "steady.safetensors"
    save_file(tensors, file, {"ccgym": json.dumps(metadata)})
    return file


@pytest.fixture
def two_hosts() -> Iterator[TwoHosts]:
    """Two network namespaces with a veth pair between them."""
    with TwoHosts() as hosts:
        yield hosts
