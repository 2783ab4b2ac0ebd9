"""What a search for the least error answers holds with draws that it has not seen."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from ccgym.calibration.answer import answer_of
from ccgym.calibration.candidate import Candidate
from ccgym.calibration.least_error import Tried
from ccgym.calibration.replication import Replicator
from ccgym.calibration.search import Search
from ccgym.calibration.target import Run, Target, means
from ccgym.envs.logs.event_log import Array

SCHEMES = ("copa", "cubic", "vegas", "reno")
TARGET = Target(
    "path", means([Run(scheme, 8.0, 40.0, 0.0) for scheme in SCHEMES], {name: name for name in SCHEMES}), {}
)
STEADY = Candidate(10.0, 20, 20, 0.0, "constant")
LUCKY = replace(STEADY, rate_mbps=12.0)
KIND_DRAWS = (0, 1)
"""Those of the search."""


class TwoModes:
    """Off by a tenth with one candidate; with the other by nothing in kind draws, and by half in others."""

    def replicate(self, candidate: Candidate, draws: Sequence[int]) -> Array:
        off = [0.1 if candidate == STEADY else 0.5 * (draw not in KIND_DRAWS) for draw in draws]
        return np.array([np.tile([8.0 * (1 + each), 40.0, 0.0], (len(SCHEMES), 1)) for each in off])


def test_a_candidate_that_was_lucky_is_not_the_answer(tmp_path: Path) -> None:
    search, path = Search(TARGET, tmp_path / "path.search", 1.0, lambda *_: None), TwoModes()
    for candidate in (STEADY, LUCKY):
        figures = path.replicate(candidate, KIND_DRAWS)
        search.tried.append(Tried(candidate, figures, search.score(figures)))
    assert search.best.candidate == LUCKY
    answer = answer_of(search, cast(Replicator, path))
    assert answer.candidate == STEADY
    assert answer.error == pytest.approx(0.05)
    assert answer.left_out_error == pytest.approx(0.05)
    low, high = answer.intervals["rate_mbps"]
    assert low <= STEADY.rate_mbps <= high
