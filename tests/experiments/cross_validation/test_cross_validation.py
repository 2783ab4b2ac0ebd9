"""The references: their bounds, and who is held against whom."""

import json
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import pytest
from ccgym.cli.main import main
from ccgym.experiments.cross_validation import copa as copa_reference
from ccgym.experiments.cross_validation import published as published_reference
from ccgym.experiments.cross_validation.comparison import Comparison
from ccgym.experiments.cross_validation.copa import CopaRow
from ccgym.experiments.cross_validation.kernel import KERNEL_BOUNDS
from ccgym.experiments.cross_validation.published import PublishedRow
from ccgym.experiments.cross_validation.published_figures import FIELD, Published


@pytest.mark.parametrize(
    ("mbps", "delay_ms", "agrees"),
    [
        (10.0, 40.0, True),
        (10.49, 40.0, True),
        (9.49, 40.0, False),
        (10.0, 45.9, True),
        (10.0, 46.1, False),
        (10.0, 33.9, False),
    ],
)
def test_agreement_with_the_kernel_ends_at_the_stated_bounds(
    mbps: float, delay_ms: float, agrees: bool
) -> None:
    assert Comparison("test/one", "cubic", mbps, 10.0, delay_ms, 40.0).agrees(KERNEL_BOUNDS) is agrees


def test_the_kernel_is_compared_with_only_what_it_has(
    capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    arguments = [
        "reproduce",
        "kernel-cross-validation",
        "--schemes",
        "cubic,copa",
        "--out",
        f"{tmp_path}/reference",
    ]
    assert main(arguments) == 2
    assert "the kernel has no 'copa'; it has cubic, reno, bbr" in capsys.readouterr().err


KNOWN_TO_DIFFER = {
    "calibrated/brazil": "keeps a longer queue for less throughput under random loss and Poisson arrivals",
    "calibrated/india": "the twin's least RTT is 0.25 ms below a real shell's; with it ours has 85.6 Mbit/s",
}
SAME_AS_GENERIC_CC = [
    "12 Mbit/s, 20 ms, 20 packets",
    "12 Mbit/s, 40 ms, 40 packets",
    "46 Mbit/s, 20 ms, 76 packets",
    "46 Mbit/s, 40 ms, 153 packets",
    "100 Mbit/s, 20 ms, 166 packets",
    "100 Mbit/s, 40 ms, 333 packets",  # by chance: 99 to 101 Mbit/s keep 27 to 35 ms
    "calibrated/nepal",
    "calibrated/mexico",
    "calibrated/china",
    "calibrated/california-mexico",
    "field/12mbps-30ms-90kb",
]


@pytest.fixture(scope="module")
def copa_rows() -> dict[str, CopaRow]:
    return {row.label: row for row in copa_reference.copa_rows(seed=1)}


@pytest.mark.parametrize(
    "label",
    [
        *SAME_AS_GENERIC_CC,
        *(
            pytest.param(label, marks=pytest.mark.xfail(strict=True, reason=reason))
            for label, reason in KNOWN_TO_DIFFER.items()
        ),
    ],
)
def test_copa_runs_as_its_authors_program(label: str, copa_rows: dict[str, CopaRow]) -> None:
    assert copa_rows[label].agrees


def test_agreement_with_genericcc_is_with_the_range_of_its_runs() -> None:
    row = CopaRow("link", 10.0, (8.0, 9.0), 30.0, (26.0, 28.0))
    assert row.agrees
    assert not replace(row, mbps=6.7).agrees  # 8 - 15 % = 6.8
    assert not replace(row, p95_delay_ms=32.3).agrees  # 28 + 15 % = 32.2


def test_distance_from_published_figures_is_from_the_nearest_end_of_their_range() -> None:
    row = PublishedRow(Published("bbr", "test/one", (8.0, 10.0), (50, 60), "a report"), 9.0, 55)
    assert (row.throughput_distance, row.delay_distance, row.agrees) == (0, 0, True)
    assert replace(row, mbps=11.0).throughput_distance == pytest.approx(0.1)
    assert replace(row, p95_delay_ms=40).delay_distance == pytest.approx(-0.2)
    assert not replace(row, p95_delay_ms=40).agrees
    unknown = replace(row, published=replace(row.published, p95_delay_ms=None), p95_delay_ms=4000)
    assert unknown.agrees


@pytest.fixture(scope="module")
def published_rows() -> list[PublishedRow]:
    """What the command prints without recorded traces, one run of each row."""
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(StringIO()) as printed:
        patched.delenv("CCGYM_TRACES", raising=False)
        patched.setattr(published_reference, "RUNS", 1)
        main(["reproduce", "published-cross-validation", "--json"])
    rows = json.loads(printed.getvalue())["emulators"]
    return [PublishedRow(**{**row, "published": Published(**row["published"])}) for row in rows]


def field_rows(rows: list[PublishedRow]) -> list[PublishedRow]:
    return [row for row in rows if row.published.emulator == FIELD]


def test_no_recorded_trace_is_needed(published_rows: list[PublishedRow]) -> None:
    assert not any(row.published.emulator.startswith("cellular/") for row in published_rows)
    assert {row.published.scheme for row in field_rows(published_rows)} == {"bbr", "copa", "cubic", "ledbat"}


def test_throughput_is_as_published(published_rows: list[PublishedRow]) -> None:
    rows = field_rows(published_rows)
    assert rows
    assert [row for row in rows if abs(row.throughput_distance) > 0.15] == []


@pytest.mark.parametrize(
    "scheme",
    [
        "copa",
        "cubic",
        "ledbat",
        pytest.param(
            "bbr",
            marks=pytest.mark.xfail(
                strict=True,
                reason="the kernel's had 57 to 78 ms at p95, as the host was busy; ours, in the twin, has 56",
            ),
        ),
    ],
)
def test_a_scheme_runs_as_published(scheme: str, published_rows: list[PublishedRow]) -> None:
    rows = [row for row in field_rows(published_rows) if row.published.scheme == scheme]
    assert rows
    assert [row for row in rows if not row.agrees] == []
