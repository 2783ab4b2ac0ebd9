"""The same seed trains the same weights, whatever a processor has beyond AVX2, and whoever made it.

MKL and oneDNN choose by the maker as well; here each run makes them choose otherwise, after the program has
pinned them, as another maker's processor would.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ccgym.tests.training.conftest import EMULATORS, TINY

CHOSEN_BY_MAKER: list[dict[str, str]] = [
    {"MKL_CBWR": "COMPATIBLE", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    {"MKL_CBWR": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
]
FORCED: list[dict[str, str]] = [
    {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "NPY_DISABLE_CPU_FEATURES": "X86_V4"},
    {"ATEN_CPU_CAPABILITY": "avx512", "MKL_CBWR": "AUTO", "MKL_ENABLE_INSTRUCTIONS": "AVX512"},
]
TRAIN = """
import hashlib, json, os, sys
from pathlib import Path
from ccgym.dagger.train import train
from ccgym.training.config import TrainingConfig, load_config
from ccgym.training.runs.run_directory import RunDirectory
os.environ.update(json.loads(sys.argv[3]))
run = RunDirectory(Path(sys.argv[2]), TrainingConfig)
train(load_config(Path(sys.argv[1]), {}, TrainingConfig), run, resume=False, workers=2)
weights = b"".join(tensor.numpy().tobytes() for tensor in run.load().policy.values())
print("weights", hashlib.sha256(weights).hexdigest())
"""


@pytest.mark.parametrize(("architecture", "hidden"), [("lstm", [16]), ("mlp", [32, 16])])
def test_forced_instruction_sets_change_no_bit(tmp_path: Path, architecture: str, hidden: list[int]) -> None:
    (tmp_path / "emulators.yaml").write_text(EMULATORS)
    selection = f"file:{tmp_path}/emulators.yaml"
    kind = {"architecture": architecture, "hidden": hidden, "iterations": 2, "evaluation_seconds": 1.0}
    links = {"variations": 2, "variation": 0.5, "random_emulators": 2, "fading_emulators": 2}
    selected = {"emulators": selection, "validation": selection, "monitored": selection}
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(TINY | kind | links | selected))
    weights = {
        weights_under(forced, chosen, config, tmp_path / f"run{i}")
        for i, (forced, chosen) in enumerate(zip(FORCED, CHOSEN_BY_MAKER, strict=True))
    }
    assert len(weights) == 1


def weights_under(forced: dict[str, str], chosen: dict[str, str], config: Path, run: Path) -> str:
    argv = [sys.executable, "-c", TRAIN, str(config), str(run), json.dumps(chosen)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env={**os.environ, **forced})
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("weights "))
    return line
