"""The cost of a controller: processor time per ACK over one recorded run, beside a fixed window's."""

import json
import time
from collections.abc import Iterator
from importlib.resources import files
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from ccgym.deploy.new_controller import write_controller
from ccgym.envs import _core
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec

from .case import Case, Yardstick, medians_in_turns

RATE_MBPS = 100.0
DELAY_MS = 20
QUEUE_PACKETS = 333
RUN_S = 10.0
YARDSTICK = "fixed:400"
REPLAYS = 3

_ARGUMENTS = {"fixed": "400", "rate": "100"}
"""Arguments of the schemes that need one; those of other schemes are optional."""


def cases(rounds: int) -> Iterator[Case]:
    """Every scheme of the table, and one in Python; all get the same ACKs, those of a Reno flow."""
    link = LinkSpec(rate_mbps=RATE_MBPS, queue="droptail", packets=QUEUE_PACKETS)
    path = EmulatorSpec(name="dumbbell", delay_ms=DELAY_MS, uplink=link).to_path()
    stream = _core.AckStream(path, "reno", seconds=RUN_S, seed=1)
    with TemporaryDirectory(prefix="ccgym-bench-") as folder:
        schemes = {name: _with_argument(name, Path(folder)) for name, *_ in _core.known_schemes()}
        schemes["python"] = _in_python(Path(folder))
        measurements = {
            name: lambda scheme=scheme: _ns_per_ack(stream, scheme) for name, scheme in schemes.items()
        }
        medians = medians_in_turns(measurements, rounds)
    yardstick = Yardstick(YARDSTICK, medians["fixed"])
    for name, median in medians.items():
        yield Case(f"schemes, {name}", median, "ns/ACK", yardstick=None if name == "fixed" else yardstick)


def _ns_per_ack(stream: _core.AckStream, scheme: str) -> float:
    start_ns = time.process_time_ns()
    for _ in range(REPLAYS):
        stream.replay(scheme)
    return (time.process_time_ns() - start_ns) / (REPLAYS * stream.acks)


def _with_argument(name: str, folder: Path) -> str:
    if name == "policy":
        return f"policy:{files('ccgym.agents') / 'policies' / 'indigo2.safetensors'}"
    if name == "remy":
        return f"remy:{_remy_table(folder / 'table.json')}"
    return f"{name}:{_ARGUMENTS[name]}" if name in _ARGUMENTS else name


def _in_python(folder: Path) -> str:
    """The AIMD of `ccgym new controller`."""
    return f"python:{write_controller('aimd', 'python', folder) / 'aimd.py'}:Aimd"


def _remy_table(file: Path) -> Path:
    """A rule table as large as the published ones: 4 boxes in each of 4 signals."""
    signals = ("send_ewma_ms", "rec_ewma_ms", "rtt_ratio", "slow_rec_ewma_ms")
    edges = dict.fromkeys(signals, (0.0, 0.1, 0.2, 1.0, 1000000.0)) | {"rtt_ratio": (0, 1.1, 1.5, 2, 1e6)}
    boxes = product(*(list(zip(edges[signal], edges[signal][1:], strict=False)) for signal in signals))
    whiskers = [
        {
            "from": {signal: low for signal, (low, _) in zip(signals, box, strict=True)},
            "to": {signal: high for signal, (_, high) in zip(signals, box, strict=True)},
            "window_multiple": 0.99 if box[2][0] >= 1.5 else 1,
            "window_increment": 1,
            "intersend_ms": 0.1,
        }
        for box in boxes
    ]
    file.write_text(json.dumps({"format": "ccgym-remy", "version": 1, "whiskers": whiskers}))
    return file
