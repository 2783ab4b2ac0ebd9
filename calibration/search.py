"""The search for the emulator: wide and cheap first, then by likelihood around the best candidates.

If no emulator with the paper's parameters fits the path, the least error is searched instead.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace

import numpy as np
from ccgym.envs.logs.event_log import Array
from optuna.storages import JournalStorage

from .candidate import PARAMETERS, Candidate
from .least_error import SEED, LeastErrorSearch, Tried
from .posterior import Measurements
from .replication import left_out_errors, scheme_errors, scores, sureness
from .sharpening import FIRST_ROUNDS, ROUNDS, Replicate, Sharpening

_FIRST_SHARE, _SHARP_SHARE, _FINE_SHARE = 0.5, 0.95, 0.8
"""Shares of the time at which the stages end at the latest; the stages after the fine one have parameters
beyond the paper's."""

_REPLICATED, _PAYS = 0.10, 0.8
"""Error up to which the paper's parameters suffice, and the part of it that further parameters may leave."""

_ACK_SHARES = (0.03, 0.06, 0.12, 0.3)
"""Rates of an ACK path, as shares of the link's, from which its search begins."""

_WALKS = tuple((spread, width) for spread in (0.1, 0.3, 0.9) for width in (2.0, 4.0, 8.0))
"""Spreads and ranges, from the best of which the search for a rate that walks begins."""

_ACK_ENDS = 0.9
"""Share of the time at which the search for an ACK path ends at the latest."""

_FIRST_SHARP_DRAW = 1000

_RULED_OUT = 8.0
"""Log odds to the more probable arrivals beyond which arrivals are given up."""


@dataclass
class Search(LeastErrorSearch):
    """A wide search, then one by likelihood, which takes the errors of the figures into account."""

    sharpened: dict[str, Sharpening] = field(default_factory=dict)
    """The search by likelihood for each kind of arrivals."""
    weights: Array = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.weights = sureness(self.target.measured)

    @property
    def best(self) -> Tried:
        """The candidate with the least score in `fits`."""
        return min(self.fits, key=lambda tried: tried.score)

    @property
    def fits(self) -> list[Tried]:
        """Those with the paper's parameters, or with more if these lower the error on left-out schemes."""
        groups = self._by_parameters()
        fits = groups.pop(PARAMETERS, [])
        for group in sorted(groups, key=len):
            if not fits or self.left_out_error(groups[group]) < _PAYS * self.left_out_error(fits):
                fits = groups[group]
        return fits

    @property
    def sharpest(self) -> Sharpening | None:
        """That of the more probable arrivals; None: not reached, or no such emulator fits the path."""
        known = [each for each in self.sharpened.values() if each.posterior is not None]
        best = max(known, key=lambda each: each.log_evidence, default=None)
        if best is None or best.posterior is None or best.posterior.discrepancy > _REPLICATED:
            return None
        return best

    @property
    def arrivals_probabilities(self) -> dict[str, float]:
        """Probability of each kind of arrivals that was searched by likelihood."""
        known = {
            name: each.log_evidence for name, each in self.sharpened.items() if each.posterior is not None
        }
        most = max(known.values())
        odds = {name: math.exp(evidence - most) for name, evidence in known.items()}
        return {name: each / sum(odds.values()) for name, each in odds.items()}

    def score(self, figures: Array) -> float:
        """The published error, weighted by the figures' sureness, and a little of that of the losses."""
        return float(scores(figures, self.measured, self.weights).mean())

    def left_out_error(self, fits: list[Tried]) -> float:
        """Mean error over the schemes, each on the emulator that is chosen without it."""
        figures: Array = np.stack([tried.figures for tried in fits])
        return float(left_out_errors(figures, self.measured, self.weights).mean())

    def _stages(self, kept: JournalStorage) -> None:
        starts = self._wide_starts(kept)
        self._sharpen(kept, starts)
        if self.sharpest is not None:
            return
        self._fine_around(kept, starts, _FINE_SHARE)
        if self.restriction.allows_beyond and self.error(self.best) > _REPLICATED:
            self._fine(kept, "ack-path", self._ack_start(), self.limit.share_ends_s(_ACK_ENDS))
        if self.restriction.allows_beyond and self.error(self.best) > _REPLICATED:
            self._fine(kept, "rate-walk", self._walk_start(), self.limit.share_ends_s(1.0))

    def _ack_start(self) -> Candidate:
        """The best candidate, with the best of the ACK paths `_ACK_SHARES`."""
        best = self.best.candidate
        tried = [replace(best, ack_mbps=round(share * best.rate_mbps, 4)) for share in _ACK_SHARES]
        return min(tried, key=lambda candidate: self.score(self._replicate(candidate, self.draws)))

    def _walk_start(self) -> Candidate:
        """The best candidates so far, one of each kind, with the best of `_WALKS` about their rates."""
        bests = [
            min(group, key=lambda tried: tried.score).candidate for group in self._by_parameters().values()
        ]
        tried = [
            replace(
                best,
                rate_mbps=round(best.rate_mbps * math.sqrt(width), 4),
                walk_spread=spread,
                walk_range=width,
            )
            for best in bests
            for spread, width in _WALKS
        ]
        return min(tried, key=lambda candidate: self.score(self._replicate(candidate, self.draws)))

    def _by_parameters(self) -> dict[tuple[str, ...], list[Tried]]:
        groups: dict[tuple[str, ...], list[Tried]] = defaultdict(list)
        for tried in self.tried:
            groups[tried.candidate.parameters].append(tried)
        return groups

    def _sharpen(self, kept: JournalStorage, starts: list[Candidate]) -> None:
        """Searches by likelihood around each start; after some rounds only the arrivals that fit continue."""
        measurements = Measurements(self.target.measured)
        self.sharpened = {
            start.arrivals: Sharpening(
                self.space, measurements, start, len(self.draws), _FIRST_SHARP_DRAW, SEED
            )
            for start in starts
        }
        self._go_on(kept, starts, FIRST_ROUNDS, _FIRST_SHARE)
        if self.sharpest is not None:
            self._go_on(kept, [each.start for each in self._probable()], ROUNDS, _SHARP_SHARE)

    def _go_on(self, kept: JournalStorage, starts: list[Candidate], rounds: int, share: float) -> None:
        for start, ends_s in zip(starts, self.limit.parts(len(starts), share), strict=True):
            runs = self._reported_runs(kept, f"sharp-{start.arrivals}", ends_s)
            self.sharpened[start.arrivals].go_on(runs, rounds)

    def _probable(self) -> list[Sharpening]:
        """The searches whose arrivals are not ruled out by the best ones."""
        most = max(each.log_evidence for each in self.sharpened.values())
        return [each for each in self.sharpened.values() if each.log_evidence > most - _RULED_OUT]

    def _reported_runs(self, kept: JournalStorage, stage: str, ends_s: float) -> Replicate:
        runs = self._kept_runs(kept, stage, ends_s)

        def replicate(candidate: Candidate, first_draw: int, draws: int) -> Array | None:
            figures = runs(candidate, first_draw, draws)
            if figures is not None:
                error = float(scheme_errors(figures, self.measured).mean())
                self.report(len(self.tried) + len(runs.known), error, candidate)
            return figures

        return replicate
