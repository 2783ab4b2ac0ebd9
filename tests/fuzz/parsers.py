"""What must hold of any bytes in a file that is handed in: read, or refused in one short printable line.

A fuzzer looks for bytes of which it does not hold (`fuzz_parser.py`, by `make fuzz`); the tests replay the
corpus: of each parser a whole file, and broken ones of which it did not hold once.
"""

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from ccgym.agents.policy_file import load_policy
from ccgym.agents.policy_header import PolicyFileError
from ccgym.agents.sb3_archive import ModelError
from ccgym.agents.sb3_model import read_model
from ccgym.agents.seen_links import read_seen_links
from ccgym.calibration.load_target import load_target
from ccgym.deploy.pantheon import PantheonCheckout
from ccgym.envs.errors import InputError
from ccgym.envs.logs.link_log import read_link_log
from ccgym.envs.logs.replay import replay_log
from ccgym.envs.specs.emulators import load_emulators
from ccgym.envs.specs.traces import read_trace
from ccgym.evaluation.backends.tunnelled.tunnel_log import read_tunnel_log
from ccgym.evaluation.metrics.results import load_evaluation
from ccgym.evaluation.metrics.summary import summarise
from ccgym.evaluation.session_file import read_session
from ccgym.experiments.training.sweep import load_sweep
from ccgym.rl.config import RlConfig
from ccgym.training.config import TrainingConfig, load_config

CORPUS = Path(__file__).parent / "corpus"
MOST_CHARACTERS = 300
REFUSALS = (InputError, ModelError, PolicyFileError)


@dataclass(frozen=True)
class Parser:
    """A reader, and the file in which it finds the bytes."""

    file: str
    read: Callable[[Path], object]
    """From the folder in which `file` stands."""
    beside: Callable[[Path], object] = lambda folder: None
    """Puts other files that it needs into the folder, once."""
    wrapped: Callable[[bytes], bytes] = bytes
    """The file's content, of which the bytes are a part."""

    def check(self, content: bytes, folder: Path) -> None:
        """Raises what the reader should not, or AssertionError: its refusal is no short printable line."""
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.wrapped(content))
        try:
            self.read(folder)
        except REFUSALS as error:
            line = str(error).replace(str(folder), "")
            assert line.isprintable(), line
            assert len(line) <= MOST_CHARACTERS, line


def _emulators(folder: Path) -> None:
    for spec in load_emulators(folder / "links.yaml"):
        spec.to_path()


def _evaluation(folder: Path) -> None:
    json.dumps(summarise(load_evaluation(folder)))


def _policy(folder: Path) -> None:
    load_policy(folder / "policy.safetensors")
    read_seen_links(folder / "policy.safetensors")


def _checkout(folder: Path) -> None:
    PantheonCheckout(folder).write_config_with("mine", folder / "written.yml")


def _make_checkout(folder: Path) -> None:
    (folder / "src" / "wrappers").mkdir(parents=True)
    (folder / "third_party").mkdir()


def _make_trace(folder: Path) -> None:
    (folder / "one.trace").write_text("1\n")


def _add_log(folder: Path, name: str = "copa_datalink_run1.log") -> None:
    shutil.copy(CORPUS / "merged_log" / "whole", folder / name)


def _archive(data: bytes, weights: bytes) -> bytes:
    """A model as stable-baselines3 packs it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("data", data)
        archive.writestr("policy.pth", weights)
    return packed.getvalue()


@cache
def _weights() -> bytes:
    """Of a small actor of PPO, as PyTorch saves them."""
    sizes = {"mlp_extractor.policy_net.0": (2, 9), "action_net": (5, 2)}
    saved = io.BytesIO()
    torch.save(
        {
            **{f"{name}.weight": torch.zeros(rows, columns) for name, (rows, columns) in sizes.items()},
            **{f"{name}.bias": torch.zeros(rows) for name, (rows, _) in sizes.items()},
        },
        saved,
    )
    return saved.getvalue()


def _with_pickle(pickled: bytes) -> bytes:
    """The model with other instructions for the making of its tensors; none: as they were."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_weights())) as whole, zipfile.ZipFile(made, "w") as changed:
        for part in whole.namelist():
            is_pickle = bool(pickled) and part.endswith("/data.pkl")
            changed.writestr(part, pickled if is_pickle else whole.read(part))
    return _archive(b"{}", made.getvalue())


def _in(name: str, read: Callable[[Path], object], **others: Any) -> Parser:
    """A reader of the one file of this name."""
    return Parser(name, lambda folder: read(folder / name), **others)


def _config(kind: Any, file: Path) -> object:
    return load_config(file, {}, kind)


PARSERS = {
    "emulators": Parser("links.yaml", _emulators),
    "trace": _in("one.trace", read_trace),
    "link_log": _in(
        "up.log",
        lambda file: replay_log(read_link_log(file), file.with_name("one.trace")),
        beside=_make_trace,
    ),
    "tunnel_log": _in("packets.log", read_tunnel_log),
    "merged_log": Parser("copa_datalink_run1.log", _evaluation),
    "session": _in("session.json", read_session),
    "measured_run": Parser("copa+fixed-9_measured_run1.json", _evaluation),
    "pantheon_metadata": Parser("pantheon_metadata.json", _evaluation, _add_log),
    "pantheon_report": _in("report.txt", load_target),
    "pantheon_perf": _in("perf.json", load_target),
    "pantheon_config": Parser("src/config.yml", _checkout, _make_checkout),
    "target_table": _in("target.csv", load_target),
    "target_yaml": _in("target.yaml", load_target),
    "training_config": _in("config.yaml", partial(_config, TrainingConfig)),
    "rl_config": _in("config.yaml", partial(_config, RlConfig)),
    "sweep": _in("sweep.yaml", load_sweep),
    "policy": Parser("policy.safetensors", _policy),
    "model": _in("model.zip", read_model),
    "model_data": _in("model.zip", read_model, wrapped=lambda data: _archive(data, _weights())),
    "model_weights": _in("model.zip", read_model, wrapped=_with_pickle),
}
"""By name; each has a folder of that name in the corpus."""
