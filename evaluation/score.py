"""The figures of a candidate scheme on a fixed list of links, in seconds; made for automatic search.

The runs are those of `ccgym eval --seconds 10 --seed 1`, to the bit. The candidate runs in processes of
its own, with a time-out and a memory limit: a crash ends these processes only.
"""

import hashlib
import json
import math
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from ccgym.envs.errors import InputError
from ccgym.envs.host.user_cache import user_cache
from ccgym.envs.outside_files import make_folder, read_bytes, replace_file

from .isolation import IsolatedCall
from .metrics.frontier import clearly_beats

EMULATORS = "field,pathological,random:47"
"""60 links of the split `test`, which no training has seen."""
SECONDS, SEED = 10.0, 1
TIMEOUT_S = 60.0
REFERENCE_TIMEOUT_S = 1800.0
WORST = 5
PARTS, PARTS_ON_CLUSTER = 2, 16
"""Number of processes that share the links; fixed, so that the memory limit means the same everywhere."""
_RUN_PART = "ccgym.evaluation.score_runs:run_part"


@dataclass(frozen=True)
class LinkScore:
    """A candidate on one link."""

    emulator: str
    throughput_mbps: float
    p95_delay_ms: float
    """One way, propagation included."""
    utilisation: float
    log_power: float
    """ln(throughput / p95 delay), in Mbit/s per ms."""
    behind: float
    """How much lower `log_power` is than that of the best scheme of the reference set on this link."""
    best: str
    """The scheme of the reference set with the highest power."""
    on_frontier: bool
    """Whether no scheme of the reference set has both 2 % more throughput and 2 % less p95 delay."""


@dataclass(frozen=True)
class Score:
    """A candidate on all links."""

    scheme: str
    links: list[LinkScore]
    seconds: float
    """How long the candidate took, in real time."""

    @property
    def log_power(self) -> float:
        """Mean over the links."""
        return sum(link.log_power for link in self.links) / len(self.links)

    @property
    def frontier_share(self) -> float:
        """Share of the links on which the candidate is on the frontier."""
        return sum(link.on_frontier for link in self.links) / len(self.links)

    @property
    def utilisation(self) -> float:
        """Mean over the links."""
        return sum(link.utilisation for link in self.links) / len(self.links)

    @property
    def worst(self) -> list[LinkScore]:
        """The links on which the candidate is furthest behind."""
        return sorted(self.links, key=lambda link: -link.behind)[:WORST]

    def to_json(self) -> dict[str, Any]:
        """What `ccgym score --json` prints."""
        return {
            "scheme": self.scheme,
            "log_power": self.log_power,
            "frontier_share": self.frontier_share,
            "utilisation": self.utilisation,
            "emulators": len(self.links),
            "worst": [asdict(link) for link in self.worst],
            "seconds": round(self.seconds, 3),
        }


def score(
    scheme: str,
    emulators: str = EMULATORS,
    timeout_s: float = TIMEOUT_S,
    ray_address: str | None = None,
) -> Score:
    """Runs a scheme over the links; the same scheme has the same figures each time.

    The reference set is every shipped scheme except Aurora. It runs once over new links, some 10 s; its
    figures are kept in ~/.cache/ccgym/score. A run in which no packet arrives has the figures of one packet
    in 30 s, with a delay of 30 s.

    Args:
        scheme: one that runs in the twin, such as `python:FILE.py:CLASS`, `so:FILE.so` or `copa`.
        emulators: as for `--emulators`.
        timeout_s: limit for all runs together, in real time; on a cluster, for the runs of one process.
        ray_address: address of a Ray cluster to run on; its machines have the same ccgym installed.

    Raises:
        InputError: there is no such scheme or emulator.
        CandidateError: the scheme crashed, hung, took too much memory, or raised an exception, whose
            traceback is in `trace`.
    """
    started = time.monotonic()
    parts = _run({scheme: _controller(scheme)}, emulators, timeout_s, ray_address)
    seconds = time.monotonic() - started
    references = _references(emulators, parts[0]["version"], ray_address)
    links = [_link(*row) for row in zip(_rows(parts), _rows(references), strict=True)]
    return Score(scheme, links, seconds)


def _controller(scheme: str) -> str:
    """The scheme as the twin takes it. A controller from outside is not loaded here, only where it runs."""
    if scheme.partition(":")[0] in ("python", "so"):
        return scheme
    from .schemes import select_native

    return select_native(scheme)


def _references(emulators: str, version: str, ray_address: str | None) -> list[dict[str, Any]]:
    """The figures of the reference set on these links, from the cache if it has run already."""
    key = hashlib.sha256(json.dumps([version, _code_version()]).encode()).hexdigest()
    file = user_cache("score") / key
    kept = _kept(file)
    if kept is not None:
        return kept
    from .schemes import twin_schemes

    schemes = {scheme.label: scheme.controller for scheme in twin_schemes()}
    measured = _run(schemes, emulators, REFERENCE_TIMEOUT_S, ray_address)
    _keep(file, measured)
    return measured


def _kept(file: Path) -> list[dict[str, Any]] | None:
    """Figures in the cache; None: there are none, or the file is damaged."""
    try:
        digest, _, text = read_bytes(file, "the figures").partition(b"\n")
    except InputError:
        return None
    if digest != _digest(text):
        return None
    figures: list[dict[str, Any]] = json.loads(text)
    return figures


def _keep(file: Path, measured: list[dict[str, Any]]) -> None:
    """Writes figures to the cache; if it cannot be written, the next call runs the reference set again."""
    text = json.dumps(measured).encode()
    with suppress(OSError, InputError):
        make_folder(file.parent)
        replace_file(file, lambda fresh: fresh.write_bytes(_digest(text) + b"\n" + text))


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()


@cache
def _code_version() -> str:
    policies = sorted((Path(__file__).resolve().parent.parent / "agents" / "policies").iterdir())
    return hashlib.sha256(b"".join(file.read_bytes() for file in [Path(__file__), *policies])).hexdigest()


def _rows(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The figures of all links, in the order of the selection."""
    return sorted((row for part in parts for row in part["links"]), key=lambda row: int(row["index"]))


def _link(candidate: dict[str, Any], references: dict[str, Any]) -> LinkScore:
    (own,) = candidate["flown"].values()
    rivals: dict[str, dict[str, float]] = references["flown"]
    best = max(rivals, key=lambda name: _log_power(rivals[name]))
    return LinkScore(
        candidate["emulator"],
        own["throughput_mbps"],
        own["p95_delay_ms"],
        own["utilisation"],
        _log_power(own),
        _log_power(rivals[best]) - _log_power(own),
        best,
        not any(_beats(figures, own) for figures in rivals.values()),
    )


def _log_power(figures: dict[str, float]) -> float:
    return math.log(figures["throughput_mbps"] / figures["p95_delay_ms"])


def _beats(rival: dict[str, float], own: dict[str, float]) -> bool:
    return clearly_beats(
        rival["throughput_mbps"], rival["p95_delay_ms"], own["throughput_mbps"], own["p95_delay_ms"]
    )


def _run(
    controllers: dict[str, str], emulators: str, timeout_s: float, ray_address: str | None
) -> list[dict[str, Any]]:
    """Runs the controllers, by name, over the links, each part of the links in a process of its own."""
    parts = PARTS
    if ray_address is not None:
        if "file:" in emulators:
            raise InputError("--ray: a file of emulators is of this machine; leave it or --ray out")
        from ccgym.envs.specs.emulators import select_emulators

        parts = min(PARTS_ON_CLUSTER, len(select_emulators(emulators)))
    jobs = [
        {"controllers": controllers, "emulators": emulators, "part": part, "parts": parts}
        for part in range(parts)
    ]
    if ray_address is not None:
        return _run_on_cluster(jobs, timeout_s, ray_address)
    with ExitStack() as stack:
        calls = [stack.enter_context(IsolatedCall(_RUN_PART, job, timeout_s)) for job in jobs]
        return [call.answer() for call in calls]


def _run_on_cluster(jobs: list[dict[str, Any]], timeout_s: float, ray_address: str) -> list[dict[str, Any]]:
    """The same on a cluster: a candidate's file travels with the task, and runs in a process of its own."""
    from .sessions.executors import open_executor

    files = {name: _travelling(name) for name in jobs[0]["controllers"]}
    with open_executor(ray_address) as executor:
        return list(executor.map(partial(_run_there, files, timeout_s), jobs))


def _travelling(controller: str) -> tuple[str, bytes] | None:
    """Name and content of the file of a controller from outside; None for a controller of ccgym."""
    kind, _, where = controller.partition(":")
    if kind not in ("python", "so"):
        return None
    from .outside_schemes import library_file

    file = Path(where.rpartition(":")[0] if kind == "python" else library_file(where))
    if file.suffix not in (".py", ".so"):
        raise InputError(f"--ray: {controller} is no file: give python:FILE.py:CLASS or so:FILE.so")
    return file.name, read_bytes(file, "the controller")


def _run_there(
    files: dict[str, tuple[str, bytes] | None], timeout_s: float, job: dict[str, Any]
) -> dict[str, Any]:
    """The task of a worker: writes the candidate's file and runs one part of the links."""
    with tempfile.TemporaryDirectory(prefix="ccgym-") as folder:
        controllers = dict(job["controllers"])
        for name, content in files.items():
            if content is None:
                continue
            placed = Path(folder) / content[0]
            placed.write_bytes(content[1])
            kind, _, where = controllers[name].partition(":")
            after = where.rpartition(placed.name)[2]
            controllers[name] = f"{kind}:{placed}{after}"
        with IsolatedCall(_RUN_PART, {**job, "controllers": controllers}, timeout_s) as call:
            answer: dict[str, Any] = call.answer()
            return answer
