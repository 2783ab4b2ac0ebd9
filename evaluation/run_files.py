"""Files of one run in Pantheon's data directory: names, and the merged log.

The merged log has one event per line, times in ms with three decimals: `T # 1500` a delivery opportunity, `T
+ SIZE FLOW` a packet sent, `T - SIZE DELAY FLOW` one received, delays one way with propagation, sizes of IP
packets.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.logs.event_log import EventLog, whole_lines
from ccgym.envs.logs.flow_metrics import OPPORTUNITY_IP_BYTES
from ccgym.envs.logs.link_log import LinkLog, parse_link_log
from ccgym.envs.outside_files import read_bytes

_LAYOUTS = {"#": "dki", "+": "dkii", "-": "dkidi"}
_RUN_FILE = re.compile(r"(.+)_(datalink|failure|measured)_run(\d+)\.(?:log|json)")
_LINK_LOG_ENDING = "_mm"
_LINK_LOG = re.compile(r"(.+)_mm_datalink_run(\d+)\.log")


@dataclass(frozen=True)
class RunFiles:
    """Where the files of one run of one scheme are."""

    folder: Path
    scheme: str
    run: int
    """From 1."""

    @property
    def data_log(self) -> Path:
        """Merged log of the direction that carries data."""
        return self._named("datalink")

    @property
    def ack_log(self) -> Path:
        """Merged log of the other direction; not of every backend."""
        return self._named("acklink")

    @property
    def link_data_log(self) -> Path:
        """mm-link's own log of that direction."""
        return self._named("mm_datalink")

    @property
    def link_ack_log(self) -> Path:
        """mm-link's own log of the other direction."""
        return self._named("mm_acklink")

    @property
    def measured(self) -> Path:
        """The figures of a run whose logs were not kept."""
        return self.folder / f"{self.scheme}_measured_run{self.run}.json"

    @property
    def clock(self) -> Path:
        """How far apart the clocks of both ends were, where they have two."""
        return self.folder / f"{self.scheme}_clock_run{self.run}.json"

    @property
    def statistics(self) -> Path:
        """Written last: a run that has it is complete."""
        return self._named("stats")

    @property
    def failure(self) -> Path:
        """Why the run failed, one line, where it did."""
        return self._named("failure")

    def _named(self, kind: str) -> Path:
        return self.folder / f"{self.scheme}_{kind}_run{self.run}.log"


def recorded_runs(folder: Path) -> list[RunFiles]:
    """The runs of which `folder` holds a merged data log or figures, by scheme and number."""
    return _runs_with(folder, "datalink", "measured")


def recorded_failures(folder: Path) -> list[RunFiles]:
    """The runs that failed, by scheme and number."""
    return _runs_with(folder, "failure")


def recorded_link_logs(folder: Path) -> list[RunFiles]:
    """The runs of which `folder` holds mm-link's own log of the data, by scheme and number."""
    found = [_LINK_LOG.fullmatch(path.name) for path in folder.iterdir()]
    runs = {RunFiles(folder, name[1], int(name[2])) for name in found if name}
    return sorted(runs, key=lambda files: (files.scheme, files.run))


def _runs_with(folder: Path, *kinds: str) -> list[RunFiles]:
    found = [_RUN_FILE.fullmatch(path.name) for path in folder.iterdir()]
    runs = {RunFiles(folder, name[1], int(name[3])) for name in found if name and name[2] in kinds}
    return sorted(
        (files for files in runs if not files.scheme.endswith(_LINK_LOG_ENDING)),
        key=lambda files: (files.scheme, files.run),
    )


@contextmanager
def replaced(path: Path) -> Iterator[IO[str]]:
    """A text file that takes the place of `path` once it is whole."""
    # Always the same name: what a killed run has left is replaced when it flies again.
    temporary = path.with_name(f".{path.name}.partial")
    try:
        with temporary.open("w", encoding="utf-8") as stream:
            yield stream
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_merged_log(path: Path, flows: list[LinkLog], delay_ms: float, init_timestamp_ms: float) -> None:
    """Writes the logs of a link's flows as one of both ends: with propagation, without what is not IP."""
    events = []
    for number, log in enumerate(flows, 1):
        events.append((_sent_lines(log, number), log.arrival_ms))
        events.append((_received_lines(log, delay_ms, number), log.departure_ms + delay_ms))
    opportunity_ms = flows[0].opportunity_ms
    events.append(([f" # {OPPORTUNITY_IP_BYTES}"] * len(opportunity_ms), opportunity_ms))
    tails = [tail for tails, _ in events for tail in tails]
    times_ms = np.concatenate([times for _, times in events]).astype(np.float64)
    order = np.argsort(times_ms, kind="stable")
    with replaced(path) as stream:
        stream.write(f"# init timestamp: {init_timestamp_ms:.3f}\n")
        stream.writelines(
            f"{time:.3f}{tails[index]}\n"
            for index, time in zip(order.tolist(), times_ms[order].tolist(), strict=True)
        )


def _sent_lines(log: LinkLog, flow: int) -> list[str]:
    return [f" + {size - log.header_bytes} {flow}" for size in log.arrival_bytes.tolist()]


def _received_lines(log: LinkLog, delay_ms: float, flow: int) -> list[str]:
    delays_ms = (log.departure_delay_ms + delay_ms).tolist()
    sizes = (log.departure_bytes - log.header_bytes).tolist()
    return [f" - {size} {delay:.3f} {flow}" for size, delay in zip(sizes, delays_ms, strict=True)]


@dataclass(frozen=True)
class FlowLogs:
    """What a log says of each flow, delays with propagation where it was written at both ends."""

    flows: dict[int, LinkLog]
    """By number, from 1."""
    remarks: list[str]
    """What of the file could not be taken as it stands."""


def read_merged_log(path: Path) -> FlowLogs:
    """The flows of a merged log, up to its last whole line, in the order of time.

    Raises:
        InputError: the file is broken; names file, line and what is wrong.
    """
    text = read_bytes(path, "the merged log")
    head, _, body = text.partition(b"\n")
    if not head.startswith(b"# init timestamp:"):
        raise InputError(f"{path}:1: expected '# init timestamp: MS': not a merged log")
    events = EventLog(path, whole_lines(body), 2, _LAYOUTS, ordered=False)
    numbers = np.union1d(events.values("+", 3), events.values("-", 4))
    return FlowLogs(
        {int(flow): _flow_log(events, flow) for flow in numbers},
        [*_cut_short(body), *_ran_backwards(events)],
    )


def read_lone_link_log(path: Path) -> FlowLogs:
    """mm-link's log of a flow without a tunnel, Pantheon's `--flows 0`: delays in the link only.

    Raises:
        InputError: the file is broken; names file, line and what is wrong.
    """
    text = read_bytes(path, "the link log")
    return FlowLogs({1: parse_link_log(path, whole_lines(text)).without_background()}, _cut_short(text))


def _cut_short(text: bytes) -> list[str]:
    return (
        []
        if not text or text.endswith(b"\n")
        else ["the log is cut in mid-line: read up to its last whole line"]
    )


def _ran_backwards(events: EventLog) -> list[str]:
    if not events.backwards:
        return []
    lines = "1 line is" if events.backwards == 1 else f"{events.backwards} lines are"
    return [
        f"the clock ran backwards: {lines} earlier than the one before, by up to "
        f"{events.most_backwards_ms:g} ms; put in order"
    ]


def _flow_log(events: EventLog, flow: int) -> LinkLog:
    sent, received = events.values("+", 3) == flow, events.values("-", 4) == flow
    return LinkLog(
        arrival_ms=events.values("+", 0)[sent],
        arrival_bytes=events.values("+", 2)[sent],
        departure_ms=events.values("-", 0)[received],
        departure_bytes=events.values("-", 2)[received],
        departure_delay_ms=events.values("-", 3)[received],
        opportunity_ms=events.values("#", 0),
        header_bytes=0,
    )
