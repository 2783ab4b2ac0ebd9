"""Parameters beyond the paper's: taken only where they lower the error on schemes that are left out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ccgym.calibration.candidate import PARAMETERS, RATE_WALK, Candidate, Restriction, space_of
from ccgym.calibration.least_error import Tried
from ccgym.calibration.search import Search
from ccgym.calibration.target import Run, Target, means

SCHEMES = ("copa", "cubic", "vegas", "reno")
PLAIN = Candidate(10.0, 20, 20, 0.0, "constant")
WALKING = replace(PLAIN, walk_spread=0.3, walk_range=4.0)
TARGET = Target(
    "path", means([Run(scheme, 8.0, 40.0, 0.0) for scheme in SCHEMES], {name: name for name in SCHEMES}), {}
)


def search_of(tmp_path: Path, *tried: tuple[Candidate, float]) -> Search:
    """One that has tried these, each with a throughput that is off by such a share."""
    search = Search(TARGET, tmp_path / "path.search", 1.0, lambda *_: None)
    for candidate, off in tried:
        figures = np.tile([8.0 * (1 + off), 40.0, 0.0], (2, len(SCHEMES), 1))
        search.tried.append(Tried(candidate, figures, search.score(figures)))
    return search


def test_a_rate_walks_down_from_the_highest() -> None:
    walk = WALKING.spec("path").uplink.rate_walk
    assert walk is not None
    assert (walk.spread, walk.low_mbps, walk.high_mbps) == (0.3, 2.5, 10.0)
    assert WALKING.parameters == (*PARAMETERS, *RATE_WALK)
    assert PLAIN.spec("path").uplink.rate_walk is None


def test_a_walk_has_its_place_in_the_space() -> None:
    space = space_of(TARGET, Restriction())
    assert space.at(space.places(WALKING), "constant") == WALKING


@pytest.mark.parametrize(("off", "pays"), [(0.3, True), (0.45, False)])
def test_a_walk_is_taken_only_where_it_pays(tmp_path: Path, off: float, *, pays: bool) -> None:
    search = search_of(tmp_path, (PLAIN, 0.5), (WALKING, off))
    assert search.best.candidate == (WALKING if pays else PLAIN)


def test_what_pays_less_than_an_ack_path_alone_is_left_out(tmp_path: Path) -> None:
    acks = replace(PLAIN, ack_mbps=1.0)
    both = replace(WALKING, ack_mbps=1.0)
    assert search_of(tmp_path, (PLAIN, 0.5), (acks, 0.3), (both, 0.28)).best.candidate == acks
    assert search_of(tmp_path, (PLAIN, 0.5), (acks, 0.3), (both, 0.1)).best.candidate == both


def test_around_a_recorded_link_nothing_walks() -> None:
    assert not Restriction({"rate_mbps": 5.0}, ("trace",), ("some.trace",)).allows_beyond
    assert Restriction().allows_beyond
