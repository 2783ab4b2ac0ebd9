"""The hooks of pre-commit are the steps of `make check`."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_the_hooks_run_what_make_check_runs() -> None:
    configuration = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = {hook["entry"] for repository in configuration["repos"] for hook in repository["hooks"]}
    recipe = re.search(r"^check: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)
    assert recipe is not None
    commands = re.findall(r"\.venv/bin/([a-z-]+[^\n]*?)(?: \.)?$", recipe[1], re.M)
    assert sorted(entry.removeprefix(".venv/bin/") for entry in hooks) == sorted(commands)
