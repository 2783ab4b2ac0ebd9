"""The runs of a search, kept in an Optuna journal so that a stopped one continues; its time limit."""

import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import optuna
from ccgym.envs.errors import InputError, is_of_system
from ccgym.envs.logs.event_log import Array
from ccgym.envs.outside_files import check_replaceable
from optuna.exceptions import ExperimentalWarning
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from .candidate import Candidate


@dataclass
class TimeLimit:
    """Limits the time of a search, which by itself ends after its trials, the same on any machine."""

    minutes: float
    cut_short: bool = False
    """Whether a stage had trials left when its time was over."""
    begun_s: float = field(default_factory=time.monotonic)

    def share_ends_s(self, share: float) -> float:
        """The time at which this share of the limit is over."""
        return self.begun_s + 60 * self.minutes * share

    def is_over(self, ends_s: float) -> bool:
        """Call it before each trial; returns whether the time `ends_s` has passed."""
        over = time.monotonic() > ends_s
        self.cut_short |= over
        return over

    def parts(self, count: int, share: float) -> Iterator[float]:
        """End times of `count` stages, of which the last ends at this share of the limit."""
        for place in range(count):
            left_s = self.share_ends_s(share) - time.monotonic()
            yield time.monotonic() + left_s / (count - place)


@dataclass
class KeptRuns:
    """Runs each candidate once with the same draws, in this process or in an earlier one of this search."""

    study: optuna.Study
    replicate: Callable[[Candidate, Sequence[int]], Array]
    limit: TimeLimit
    ends_s: float
    known: dict[str, list[object]] = field(init=False)

    def __post_init__(self) -> None:
        trials = self.study.get_trials(deepcopy=False)
        self.known = {trial.user_attrs["asked"]: trial.user_attrs["figures"] for trial in trials}

    def __call__(self, candidate: Candidate, first_draw: int, draws: int) -> Array | None:
        """Figures of `candidate` with `draws` draws from `first_draw` on; None: the time is over."""
        asked = json.dumps([asdict(candidate), first_draw, draws])
        if asked not in self.known:
            if self.limit.is_over(self.ends_s):
                return None
            figures = self.replicate(candidate, range(first_draw, first_draw + draws))
            self.known[asked] = figures.tolist()
            attributes = {"asked": asked, "figures": self.known[asked]}
            self.study.add_trial(optuna.create_trial(value=0.0, user_attrs=attributes))
        return np.array(self.known[asked])


@contextmanager
def quiet_optuna() -> Iterator[None]:
    """Silences Optuna's lines about trials, and its traceback of one that was interrupted."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(verbosity)


def open_journal(path: Path, what: str) -> JournalStorage:
    """Opens an Optuna journal.

    Raises:
        InputError: it is not `what`, or damaged.
    """
    check_replaceable(path)
    try:
        if path.exists():
            _look_through(path)
        return JournalStorage(JournalFileBackend(str(path)))
    # Optuna replays the lines, and expects them as it wrote them.
    except (ValueError, KeyError, TypeError, AssertionError, IndexError):
        raise InputError(f"{path}: not {what}, or damaged: delete it, or choose another --out") from None


def _look_through(path: Path) -> None:
    """Removes an incomplete last line, left by a full disk: Optuna would append to it.

    Raises:
        ValueError: a line is none of Optuna's.
    """
    with path.open("rb+") as file:
        whole_bytes = 0
        for line in file:
            if not line.endswith(b"\n") and whole_bytes:
                file.truncate(whole_bytes)
                return
            if not _is_of_journal(line):
                raise ValueError("a line of somebody else's")
            whole_bytes += len(line)


def _is_of_journal(line: bytes) -> bool:
    try:
        entry = json.loads(line)
    except ValueError:
        return False
    return isinstance(entry, dict) and "op_code" in entry


@contextmanager
def open_storage(path: Path) -> Iterator[JournalStorage]:
    """Opens the file of the kept studies of a search.

    Raises:
        InputError: they cannot be kept there.
    """
    try:
        yield open_journal(path, "the kept search of a calibration")
    except OSError as error:
        if is_of_system(error):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise InputError(f"{path}: cannot keep the search: {error.strerror}") from None
