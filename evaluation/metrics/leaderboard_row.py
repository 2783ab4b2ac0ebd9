"""A row of a leaderboard, as figures and as text."""

from dataclasses import dataclass

from ccgym.evaluation.sessions.session import REFUSED


@dataclass(frozen=True)
class LeaderboardRow:
    """The figures of one scheme over the scenarios in which it ran or failed.

    A scenario in which it failed counts as neither frontier nor win; one without a run does not count.
    """

    scheme: str
    frontier_share: float
    """Share of scenarios in which no other scheme clearly beats it."""
    mean_log_power: float | None
    """Mean of ln(throughput / p95 delay) over each scenario's runs, then over scenarios; None: no run."""
    winning_rate: float
    """Share of scenarios in which its power is within 10 % of the best."""
    mean_utilisation: float | None = None
    """Over the scenarios with a known capacity: it shows schemes on the frontier that hardly send."""
    failed_runs: int = 0
    failure: str = ""
    """The reason of most of its failures."""
    log_power_interval: tuple[float, float] | None = None
    """95 % interval of the mean log power; None with fewer than two scenarios, as for every interval."""
    frontier_interval: tuple[float, float] | None = None
    """95 % interval of the frontier share."""
    winning_interval: tuple[float, float] | None = None
    """95 % interval of the winning rate."""
    utilisation_interval: tuple[float, float] | None = None
    """95 % interval of the mean utilisation."""
    lead: float | None = None
    """Mean difference in log power to the next scheme, over the scenarios in which both ran."""
    lead_interval: tuple[float, float] | None = None
    ahead_probability: float | None = None
    """Probability that it is ahead of the next scheme; None: too few scenarios."""
    scenarios: int = 0
    """Number of scenarios in which it ran or failed."""
    of_scenarios: int = 0
    """Number of scenarios in which any scheme ran or failed."""

    @property
    def name(self) -> str:
        """The scheme's name, with the number of its scenarios if others have more."""
        if self.scenarios == self.of_scenarios:
            return self.scheme
        return f"{self.scheme} ({self.scenarios} of {self.of_scenarios})"

    @property
    def interval_text(self) -> str:
        """The interval of the mean log power as text."""
        return "{:.3f} to {:.3f}".format(*self.log_power_interval) if self.log_power_interval else "-"

    @property
    def frontier_text(self) -> str:
        """The frontier share with its interval as text."""
        return _percent_text(self.frontier_share, self.frontier_interval)

    @property
    def winning_text(self) -> str:
        """The winning rate with its interval as text."""
        return _percent_text(self.winning_rate, self.winning_interval)

    @property
    def utilisation_text(self) -> str:
        """The mean utilisation with its interval as text."""
        if self.mean_utilisation is None:
            return "-"
        return _percent_text(self.mean_utilisation, self.utilisation_interval)

    @property
    def refused(self) -> bool:
        """Whether most of the failed runs were never tried."""
        return self.failure.startswith(REFUSED)

    @property
    def shortfall(self) -> str:
        """How many runs failed or were never tried, as text."""
        runs = "run" if self.failed_runs == 1 else "runs"
        return f"{self.failed_runs} {runs} {'skipped' if self.refused else 'failed'}"

    @property
    def reason(self) -> str:
        """The failure without the words that `shortfall` says already."""
        return self.failure.removeprefix(REFUSED)


def _percent_text(share: float, interval: tuple[float, float] | None) -> str:
    spread = "" if interval is None else " ({:.0f}-{:.0f})".format(*(100 * end for end in interval))
    return f"{100 * share:.0f} %{spread}"
