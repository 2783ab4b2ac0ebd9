"""The report on paper: nothing is left out, and names are as they were given."""

from dataclasses import replace
from pathlib import Path

import pytest
from ccgym.evaluation.metrics.results import Evaluation, load_evaluation
from ccgym.evaluation.report import pdf_report
from ccgym.evaluation.report.pantheon_text import statistics
from ccgym.evaluation.schemes import select_schemes
from ccgym.evaluation.sessions.run_plan import run_plan
from ccgym.evaluation.sessions.session import Plan
from matplotlib.figure import Figure

from .test_report import emulator

FLOWS = 12


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = tmp_path_factory.mktemp("evaluation")
    plan = Plan([emulator("quick", 12, 10)], select_schemes("reno"), 1, 2.0, 1, "twin", "ccgym eval", FLOWS)
    run_plan(plan, folder)
    evaluation = load_evaluation(folder)
    return replace(evaluation, scenarios=[replace(evaluation.scenarios[0], label="cost$_$x")])


def lines(pages: list[Figure]) -> list[str]:
    return [line for page in pages for text in page.texts for line in text.get_text().splitlines()]


def test_a_name_with_dollar_signs_is_no_formula(evaluation: Evaluation, tmp_path: Path) -> None:
    pdf_report.write_pdf(evaluation, tmp_path / "report.pdf")
    pdf_report.write_figures(evaluation, tmp_path / "figures", ["svg"])
    assert (tmp_path / "report.pdf").stat().st_size > 10_000
    assert list((tmp_path / "figures").rglob("*.svg"))


def test_the_statistics_of_many_flows_are_all_there(evaluation: Evaluation) -> None:
    (scenario,) = evaluation.scenarios
    (run,) = scenario.runs
    pages = list(pdf_report._run_pages(scenario, run))
    assert len(pages) == 2
    # A page says when it was made, and is made anew each time.
    told = [line for line in statistics(scenario, run).splitlines() if "generated" not in line]
    assert f"-- Flow {FLOWS}:" in told
    assert [line for line in lines(pages) if line in told] == told


def test_long_lines_go_on_in_the_next() -> None:
    words = [f"word-{number}" for number in range(200)]
    pages = list(pdf_report._text_pages("title", [" ".join(words), "", "last"] * 20))
    assert len(pages) > 1
    shown = [line for line in lines(pages) if line != "title"]
    assert " ".join(shown).split() == [*words, "last"] * 20
    assert max(map(len, shown)) <= 110
