"""Files of one run in Pantheon's data directory: names, and the merged log.

The merged log has one event per line, times in ms with three decimals: `T # 1500` a delivery opportunity, `T
+ SIZE FLOW` a packet sent, `T - SIZE DELAY FLOW` one received, delays one way with propagation, sizes of IP
packets.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError, one_line
from ccgym.envs.logs.event_log import Array, EventLog
from ccgym.envs.logs.flow_metrics import OPPORTUNITY_IP_BYTES
from ccgym.envs.logs.link_log import LinkLog, read_whole_lines
from ccgym.envs.outside_files import opened, replaced

_LAYOUTS = {"#": "dkx", "+": "dknn", "-": "dkndn"}
PANTHEON_METADATA = "pantheon_metadata.json"
MOST_FLOWS = 1000
_LONGEST_HEADER_LINE = 1000
_MOST_REASON_CHARACTERS = 300
_PIECE_CHARACTERS = 1 << 20
_RUN_FILE = re.compile(r"(.+)_(datalink|failure|measured|stats)_run(\d{1,9})\.(?:log|json)")
LINK_LOG_ENDING = "_mm"
_LINK_LOG = re.compile(r"(.+)_mm_datalink_run(\d{1,9})\.log")


@dataclass(frozen=True)
class RunFiles:
    """The paths of the files of one run of one scheme."""

    folder: Path
    scheme: str
    run: int
    """Number of the run, from 1."""

    @property
    def data_log(self) -> Path:
        """Merged log of the direction that carries data."""
        return self._named("datalink")

    @property
    def ack_log(self) -> Path:
        """Merged log of the other direction; not every backend writes it."""
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
    def completions(self) -> Path:
        """Completion times of its flows or answers, which are not in the logs."""
        return self.folder / f"{self.scheme}_completions_run{self.run}.json"

    @property
    def clock(self) -> Path:
        """The offset between the clocks of both ends, if they have two."""
        return self.folder / f"{self.scheme}_clock_run{self.run}.json"

    @property
    def load(self) -> Path:
        """The load by other programs during a run in real time."""
        return self.folder / f"{self.scheme}_load_run{self.run}.json"

    @property
    def statistics(self) -> Path:
        """Written last: a run that has it is complete."""
        return self._named("stats")

    @property
    def failure(self) -> Path:
        """The reason of its failure, one line, if it failed."""
        return self._named("failure")

    def _named(self, kind: str) -> Path:
        return self.folder / f"{self.scheme}_{kind}_run{self.run}.log"


def in_one_line(reason: str) -> str:
    """The reason of a failure, cleaned and cut for tables and terminals."""
    return one_line(" ".join(reason.split()), _MOST_REASON_CHARACTERS)


def check_holds_runs(folder: Path) -> None:
    """Raises InputError if a folder is neither an evaluation of ours nor a data directory of Pantheon's."""
    pantheon = folder.is_dir() and ((folder / PANTHEON_METADATA).is_file() or recorded_runs(folder))
    if not pantheon and not (folder / "session.json").is_file():
        raise InputError(f"{folder}: neither session.json (of `ccgym eval`) nor {PANTHEON_METADATA} is in it")


def recorded_runs(folder: Path) -> list[RunFiles]:
    """The runs of which `folder` holds a merged data log or figures, by scheme and number."""
    return _runs_with(folder, "datalink", "measured")


def complete_runs(folder: Path) -> list[RunFiles]:
    """The runs that came to their end, by scheme and number."""
    return _runs_with(folder, "stats")


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
        (files for files in runs if not files.scheme.endswith(LINK_LOG_ENDING)),
        key=lambda files: (files.scheme, files.run),
    )


@contextmanager
def replaced_text(path: Path) -> Iterator[IO[str]]:
    """A text file that replaces `path` once it is complete; what UTF-8 cannot encode is escaped."""
    with replaced(path) as fresh, fresh.open("w", encoding="utf-8", errors="backslashreplace") as stream:
        yield stream


def write_merged_log(path: Path, flows: list[LinkLog], delay_ms: float, init_timestamp_ms: float) -> None:
    """Merges the logs of a link's flows into a log of both ends: delays with propagation, IP sizes."""
    lines = _core.MergedLines()
    for number, log in enumerate(flows, 1):
        sent = _in_order(log.arrival_ms, log.arrival_bytes - log.header_bytes)
        lines.add_sent(_doubles(sent[0]), _sizes(sent[1]), number)
        sizes = log.departure_bytes - log.header_bytes
        received = _in_order(log.departure_ms, sizes, log.departure_delay_ms)
        lines.add_received(
            _doubles(received[0]), _sizes(received[1]), _doubles(received[2]), delay_ms, number
        )
    lines.add_opportunities(_doubles(flows[0].opportunity_ms), OPPORTUNITY_IP_BYTES)
    with replaced_text(path) as stream:
        stream.write(f"# init timestamp: {init_timestamp_ms:.3f}\n")
        while text := lines.next(_PIECE_CHARACTERS):
            stream.write(text)


def _in_order(times_ms: Array, *columns: Array) -> tuple[Array, ...]:
    if (times_ms[1:] >= times_ms[:-1]).all():
        return times_ms, *columns
    order = np.argsort(times_ms, kind="stable")
    return times_ms[order], *(column[order] for column in columns)


def _doubles(values: Array) -> Array:
    return np.ascontiguousarray(values, np.float64)


def _sizes(values: Array) -> Array:
    return np.ascontiguousarray(values, np.int32)


@dataclass(frozen=True)
class FlowLogs:
    """The flows of a log; delays include propagation if the log was written at both ends."""

    flows: dict[int, LinkLog]
    """Logs by the number of the flow, from 1."""
    remarks: list[str]
    """Corrections that the file needed."""
    silent_flow: LinkLog
    """The log of a flow that is not in it."""


def read_merged_log(path: Path) -> FlowLogs:
    """Reads the flows of a merged log up to its last whole line, in order of time.

    Raises:
        InputError: the file is broken; names file, line and what is wrong.
    """
    with opened(path, "the merged log") as stream:
        if not stream.readline(_LONGEST_HEADER_LINE).startswith(b"# init timestamp:"):
            raise InputError(f"{path}:1: expected '# init timestamp: MS': not a merged log")
        events = EventLog(path, stream, 2, _LAYOUTS, ordered=False)
    sent, received, opportunities = (events.take(kind) for kind in "+-#")
    numbers = np.union1d(sent[3], received[4])
    if len(numbers) > MOST_FLOWS:
        raise InputError(f"{path}: {len(numbers)} flows: at most {MOST_FLOWS} of a log are told apart")
    flows = {}
    nothing = np.zeros(0)
    silent = LinkLog(nothing, nothing, nothing, nothing, nothing, opportunities[0], header_bytes=0)
    for flow in numbers.tolist():
        arrival_ms, arrival_bytes = _of_flow(flow, sent[3], sent[0], sent[2])
        departure_ms, departure_bytes, delay_ms = _of_flow(
            flow, received[4], received[0], received[2], received[3]
        )
        flows[flow] = replace(
            silent,
            arrival_ms=arrival_ms,
            arrival_bytes=arrival_bytes,
            departure_ms=departure_ms,
            departure_bytes=departure_bytes,
            departure_delay_ms=delay_ms,
        )
    return FlowLogs(flows, [*_cut_short(events.cut_in_mid_line), *_ran_backwards(events)], silent)


def _of_flow(flow: int, numbers: Array, *columns: Array) -> list[Array]:
    """The part of each column that belongs to this flow; columns of a single flow are not copied."""
    own = numbers == flow
    return list(columns) if own.all() else [column[own] for column in columns]


def read_lone_link_log(path: Path) -> FlowLogs:
    """Reads mm-link's log of a flow without a tunnel (Pantheon's `--flows 0`), with delays in the link only.

    Raises:
        InputError: the file is broken; names file, line and what is wrong.
    """
    log, cut = read_whole_lines(path)
    seen = log.without_background()
    return FlowLogs({1: seen}, _cut_short(cut), seen)


def _cut_short(cut_in_mid_line: bool) -> list[str]:
    return ["the log is cut in mid-line: read up to its last whole line"] if cut_in_mid_line else []


def _ran_backwards(events: EventLog) -> list[str]:
    if not events.backwards:
        return []
    lines = "1 line is" if events.backwards == 1 else f"{events.backwards} lines are"
    return [
        f"the clock ran backwards: {lines} earlier than the one before, by up to "
        f"{events.most_backwards_ms:g} ms; put in order"
    ]
