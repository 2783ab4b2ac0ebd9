"""The same seed trains the same weights, whatever a processor has beyond AVX2, and whoever made it.

MKL and oneDNN choose by the maker as well; here each run makes them choose otherwise, after the program has
pinned them, as another maker's processor would.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml
from ccgym.tests.processes import MOST_SECONDS
from ccgym.tests.training.conftest import EMULATORS, TINY

CHOSEN_BY_MAKER: list[dict[str, str]] = [
    {"MKL_CBWR": "COMPATIBLE", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "ONEDNN_MAX_CPU_ISA": "SSE41"},
    {"MKL_CBWR": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
]
FORCED: list[dict[str, str]] = [
    {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "NPY_DISABLE_CPU_FEATURES": "X86_V4"},
    {"ATEN_CPU_CAPABILITY": "avx512", "MKL_CBWR": "AUTO", "MKL_ENABLE_INSTRUCTIONS": "AVX512"},
]
HIDDEN = {"lstm": [16], "mlp": [32, 16]}
TRAIN = """
import hashlib, json, os, sys
from pathlib import Path
from ccgym.dagger.train import train
from ccgym.training.config import TrainingConfig, load_config
from ccgym.training.runs.run_directory import RunDirectory
os.environ.update(json.loads(sys.argv[2]))
for config in map(Path, sys.argv[3:]):
    run = RunDirectory(Path(sys.argv[1]) / config.stem, TrainingConfig)
    train(load_config(config, {}, TrainingConfig), run, resume=False, workers=2)
    weights = b"".join(tensor.numpy().tobytes() for tensor in run.load().policy.values())
    print("weights", config.stem, hashlib.sha256(weights).hexdigest())
"""


def test_forced_instruction_sets_change_no_bit(tmp_path: Path) -> None:
    (tmp_path / "emulators.yaml").write_text(EMULATORS)
    selection = f"file:{tmp_path}/emulators.yaml"
    short = {"iterations": 2, "evaluation_seconds": 1.0}
    links = {"variations": 2, "variation": 0.5, "random_emulators": 2, "fading_emulators": 2}
    selected = {"emulators": selection, "validation": selection, "monitored": selection}
    configs = [tmp_path / f"{architecture}.yaml" for architecture in HIDDEN]
    for config in configs:
        kind = {"architecture": config.stem, "hidden": HIDDEN[config.stem]}
        config.write_text(yaml.safe_dump(TINY | kind | short | links | selected))
    first, second = (
        weights_under(forced, chosen, tmp_path / f"runs{i}", configs)
        for i, (forced, chosen) in enumerate(zip(FORCED, CHOSEN_BY_MAKER, strict=True))
    )
    assert first == second


def weights_under(
    forced: dict[str, str], chosen: dict[str, str], runs: Path, configs: list[Path]
) -> list[str]:
    """Of all architectures in one process: what it imports takes longer than the trainings."""
    argv = [sys.executable, "-c", TRAIN, str(runs), json.dumps(chosen), *map(str, configs)]
    environment = {**os.environ, **forced}
    done = subprocess.run(
        argv, capture_output=True, text=True, check=True, env=environment, timeout=MOST_SECONDS
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("weights ")]
    assert len(lines) == len(configs)
    return lines
