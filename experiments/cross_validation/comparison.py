"""Our schemes beside independent implementations of the same, over the same emulators."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from ccgym.experiments.json_text import json_text


@dataclass(frozen=True)
class Bounds:
    """How far ours may be from the reference's, as shares of the reference's figures."""

    throughput_share: float
    delay_share: float


@dataclass(frozen=True)
class Comparison:
    """One scheme over one emulator."""

    emulator: str
    scheme: str
    mbps: float
    reference_mbps: float
    delay_ms: float
    """The delay that the experiment compares: p95 one-way, or mean in the queue."""
    reference_delay_ms: float

    @property
    def throughput_error(self) -> float:
        """Our throughput minus the reference's, as a share of the latter."""
        return self.mbps / self.reference_mbps - 1

    @property
    def delay_error(self) -> float:
        """Our delay minus the reference's, as a share of the latter."""
        return self.delay_ms / self.reference_delay_ms - 1

    def agrees(self, bounds: Bounds) -> bool:
        """Whether both errors are within their bounds."""
        return (
            abs(self.throughput_error) <= bounds.throughput_share
            and abs(self.delay_error) <= bounds.delay_share
        )

    def remark(self, bounds: Bounds) -> str:
        """The remark at the end of the comparison's line."""
        return "" if self.agrees(bounds) else "  differs"


def comparison_lines(
    comparisons: Iterable[Comparison], bounds: Bounds, heads: Mapping[str, str]
) -> list[str]:
    """The table as text; `heads` names the reference and the delay."""
    rows = list(comparisons)
    lines = [
        _line("emulator", "scheme", "Mbit/s", heads["reference"], "", heads["delay"], heads["reference"], "")
    ]
    lines += [
        _line(
            row.emulator,
            row.scheme,
            f"{row.mbps:.2f}",
            f"{row.reference_mbps:.2f}",
            f"{row.throughput_error:+.1%}",
            f"{row.delay_ms:.1f}",
            f"{row.reference_delay_ms:.1f}",
            f"{row.delay_error:+.1%}",
        )
        + row.remark(bounds)
        for row in rows
    ]
    return [*lines, f"{sum(row.agrees(bounds) for row in rows)} of {len(rows)} agree"]


def _line(emulator: str, scheme: str, *figures: str) -> str:
    return f"{emulator:28} {scheme:8}" + "".join(f"{figure:>12}" for figure in figures)


def print_comparisons(
    tables: Mapping[str, tuple[Sequence[Comparison], Bounds]], heads: Mapping[str, str], *, as_json: bool
) -> None:
    """Prints one table for each place where our schemes ran.

    Args:
        tables: the comparisons and their bounds, by the name of the place.
        heads: names of the reference and of the delay, as `reference` and `delay`.
        as_json: whether to print one JSON object instead.
    """
    if as_json:
        print(json_text({where: [asdict(row) for row in rows] for where, (rows, _) in tables.items()}))
        return
    for where, (rows, bounds) in tables.items():
        print(f"ours in {where}:")
        print("\n".join(comparison_lines(rows, bounds, heads)))
