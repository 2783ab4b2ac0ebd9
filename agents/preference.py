"""The preference of a policy file, with which its flows begin unless they are given another one."""

import json
from pathlib import Path

from safetensors import safe_open
from safetensors.numpy import load_file, save_file


def write_with_preference(source: Path, target: Path, preference: float) -> None:
    """Copies the policy file `source`; a flow of the copy begins at `preference`, 0 (low delay) to 1."""
    with safe_open(source, framework="np") as file:
        metadata = json.loads(file.metadata()["ccgym"])
    metadata["preference"] = preference
    save_file(load_file(source), target, {"ccgym": json.dumps(metadata)})
