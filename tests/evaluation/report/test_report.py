"""The report, as a person opens it: in a browser, offline."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.evaluation.backends.twin_backend import TwinBackend
from ccgym.evaluation.metrics.results import Evaluation, load_evaluation
from ccgym.evaluation.metrics.summary import scheme_means
from ccgym.evaluation.report.figures import frontier
from ccgym.evaluation.report.heat_maps import heat_maps
from ccgym.evaluation.report.palette import styles
from ccgym.evaluation.report.publish import publish
from ccgym.evaluation.schemes import select_schemes
from ccgym.evaluation.sessions.session import Plan, open_session, run_session
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

ANSWER_MS = 90_000
# High enough that every picture is near the window, and so is drawn.
WINDOW: ViewportSize = {"width": 1200, "height": 12000}
ALL_DRAWN = "[...document.querySelectorAll('.plot')].every((plot) => plot.dataset.drawn === 'yes')"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small evaluation, one run of it failed."""
    folder = tmp_path_factory.mktemp("evaluation")
    emulators = [emulator("quick", 12, 10), emulator("slow", 2, 40)]
    plan = Plan(emulators, select_schemes("reno,fixed:30,copa"), 2, 3.0, 1, "twin", "ccgym eval <b>&</b>")
    for _ in run_session(plan, folder, open_session(plan, folder), TwinBackend()):
        pass
    failed = folder / "data" / "test" / "slow"
    (failed / "reno_datalink_run2.log").unlink()
    (failed / "reno_failure_run2.log").write_text("no answer </script> within 10 tries\n")
    publish(folder)
    return folder


def emulator(name: str, rate_mbps: float, delay_ms: int) -> NamedEmulator:
    fields = {"name": name, "delay_ms": delay_ms, "uplink": {"rate_mbps": rate_mbps}}
    return NamedEmulator(f"test/{name}", EmulatorSpec.model_validate(fields))


@pytest.fixture(scope="module")
def evaluation(folder: Path) -> Evaluation:
    return load_evaluation(folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program is not None, "the package chromium is missing: etc/install-system-packages.sh --tests"
    with sync_playwright() as playwright:
        # As root the browser refuses to start with its sandbox.
        browser = playwright.chromium.launch(
            executable_path=program, chromium_sandbox=False, timeout=ANSWER_MS
        )
        yield browser
        browser.close()


def opened(browser: Browser, page: Path, until: str) -> tuple[str, list[str]]:
    """The document once its scripts have made `until` true, and what they said on the console."""
    said: list[str] = []
    tab = browser.new_page(viewport=WINDOW, offline=True)
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(page.as_uri(), timeout=ANSWER_MS)
    tab.wait_for_function(until, timeout=ANSWER_MS)
    document = tab.content()
    tab.close()
    return document, said


def test_report_opens_and_draws_everything(folder: Path, browser: Browser) -> None:
    document, console = opened(browser, folder / "report.html", ALL_DRAWN)
    assert console == []
    plots = re.findall(r'<div class="plot[^>]*data-figure="[^>]*>', document)
    assert [re.findall(r'data-figure="([^"]+)"', plot)[0] for plot in plots] == [
        "overall",
        "frontier-0",
        "runs-0-1",
        "frontier-1",
        "runs-1-1",
    ]
    assert all('data-drawn="yes"' in plot and "js-plotly-plot" in plot for plot in plots)
    assert 'class="static"' not in document, "what is seen before has made room"
    # The labels of the means stand in the pictures, the reason of the failure and the command beside them.
    assert document.count('class="textpoint"') >= 2 * 3
    assert "no answer &lt;/script&gt; within 10 tries" in document
    assert "ccgym eval &lt;b&gt;&amp;&lt;/b&gt;" in document


def test_frontiers_are_seen_before_the_chart_library_is_loaded(folder: Path, browser: Browser) -> None:
    tab = browser.new_page(offline=True)
    tab.add_init_script("globalThis.requestAnimationFrame = () => 0")  # nothing is painted, nothing loaded
    tab.goto((folder / "report.html").as_uri(), timeout=ANSWER_MS)
    seen = [picture.text_content() or "" for picture in tab.locator(".plot.frontier > svg.static").all()]
    assert tab.locator(".js-plotly-plot").count() == 0
    tab.close()
    assert len(seen) == 3
    assert all("copa" in text and "fixed-30" in text and "lower is further right" in text for text in seen)


@pytest.fixture(scope="module")
def leaderboard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """35 scenarios."""
    folder = tmp_path_factory.mktemp("leaderboard")
    emulators = [emulator(f"{rate}mbps", rate, 10) for rate in range(1, 36)]
    plan = Plan(emulators, select_schemes("reno,fixed:30,copa"), 1, 1.0, 1, "twin", "", keep_logs=False)
    for _ in run_session(plan, folder, open_session(plan, folder), TwinBackend()):
        pass
    publish(folder)
    return folder


def test_large_leaderboards_are_heat_maps(leaderboard: Path, browser: Browser) -> None:
    heat_map_drawn = "document.getElementById('heat-test').dataset.drawn === 'yes'"
    document, console = opened(browser, leaderboard / "report.html", heat_map_drawn)
    assert console == []
    assert re.search(r'id="heat-test"[^>]*data-drawn="yes"', document)
    assert "Marked: the most power" not in document
    # Sections stay closed and empty until someone opens one.
    assert (
        len(re.findall(r'<details class="scenario" id="scenario-\d+" data-scenario="[^"]*">', document)) == 35
    )
    assert 'id="frontier-20"' not in document
    assert (leaderboard / "report.html").stat().st_size < 2_500_000


def test_a_link_opens_its_scenario_and_marks_its_scheme(leaderboard: Path, browser: Browser) -> None:
    tab = browser.new_page(viewport={"width": 1200, "height": 900}, offline=True)
    tab.goto(f"{(leaderboard / 'report.html').as_uri()}#scheme=copa&scenario=test/20mbps", timeout=ANSWER_MS)
    tab.wait_for_function(
        "document.querySelector('#frontier-19')?.dataset.drawn === 'yes'", timeout=ANSWER_MS
    )
    marked = "document.querySelectorAll('#scenario-19 tr.chosen').length"
    assert (tab.evaluate("document.querySelectorAll('details[open]').length"), tab.evaluate(marked)) == (1, 1)
    dimmed = "document.getElementById('frontier-19').data.filter((trace) => trace.opacity < 1)"
    assert {trace["legendgroup"] for trace in tab.evaluate(dimmed)} == {"reno", "fixed-30"}
    tab.close()


def test_tables_are_sorted_by_any_column(leaderboard: Path, browser: Browser) -> None:
    tab = browser.new_page(offline=True)
    tab.goto((leaderboard / "report.html").as_uri(), timeout=ANSWER_MS)
    column = (
        "[...document.querySelectorAll('tbody')[0].rows].map((row) => parseFloat(row.cells[3].textContent))"
    )
    heading = tab.locator("table.sortable").first.locator("th").nth(3)
    heading.click()
    downwards = tab.evaluate(column)
    heading.click()
    assert tab.evaluate(column) == downwards[::-1] == sorted(downwards)
    tab.close()


def test_labels_of_many_schemes_do_not_overlap(browser: Browser, tmp_path: Path) -> None:
    schemes = "fixed:" + ",fixed:".join(str(packets) for packets in range(20, 44))
    emulators = [emulator("one", 12, 10), emulator("slow", 0.3, 10), emulator("far", 40, 100)]
    plan = Plan(emulators, select_schemes(schemes), 1, 1.0, 1, "twin", "")
    for _ in run_session(plan, tmp_path, open_session(plan, tmp_path), TwinBackend()):
        pass
    publish(tmp_path)
    tab = browser.new_page(viewport={"width": 1200, "height": 1200}, offline=True)
    tab.goto((tmp_path / "report.html").as_uri(), timeout=ANSWER_MS)
    for plot in ("overall", "frontier-0"):
        assert overlaps(tab, plot) == []
    tab.close()


def overlaps(tab: Page, plot: str) -> list[object]:
    """Names of means in a picture that cover each other."""
    tab.locator(f"#{plot}").scroll_into_view_if_needed()
    tab.wait_for_function(f"document.getElementById('{plot}').dataset.drawn === 'yes'", timeout=ANSWER_MS)
    boxes = tab.evaluate(
        f"[...document.querySelectorAll('#{plot} .textpoint text')].filter((text) => text.textContent)"
        ".map((text) => text.getBoundingClientRect())"
        ".map((box) => [box.left, box.right, box.top, box.bottom])"
    )
    assert len(boxes) >= 4
    return [
        (one, other)
        for index, one in enumerate(boxes)
        for other in boxes[:index]
        if min(one[1], other[1]) - max(one[0], other[0]) > 2
        and min(one[3], other[3]) - max(one[2], other[2]) > 4
    ]


def test_titles_of_axes_stand_beside_the_pictures(browser: Browser, tmp_path: Path) -> None:
    plan = Plan([emulator("one", 12, 10)], select_schemes("copa,cubic"), 1, 3.0, 1, "twin", "", flows=2)
    for _ in run_session(plan, tmp_path, open_session(plan, tmp_path), TwinBackend()):
        pass
    publish(tmp_path)
    tab = browser.new_page(viewport={"width": 1200, "height": 1200}, offline=True)
    tab.goto((tmp_path / "report.html").as_uri(), timeout=ANSWER_MS)
    tab.locator("#runs-0").scroll_into_view_if_needed()
    tab.wait_for_function("document.getElementById('runs-0').dataset.drawn === 'yes'", timeout=ANSWER_MS)
    titles, lines = (
        tab.evaluate(
            f"[...document.querySelectorAll('#runs-0 {kind}')].map((each) => each.getBoundingClientRect())"
            ".map((box) => [box.left, box.right, box.top, box.bottom])"
        )
        for kind in ("text[class^=y][class$=title]", ".ygrid")
    )
    tab.close()
    assert len(titles) == 2 * 3
    covered = [
        (title, line)
        for title in titles
        for line in lines
        if title[0] < line[1] and line[0] < title[1] and title[2] < line[3] and line[2] < title[3]
    ]
    assert covered == []


def test_a_scheme_that_never_ran_is_in_no_heat_map(evaluation: Evaluation) -> None:
    described = {**evaluation.session["schemes"], "kernel-bbr": {}}
    (figure,) = heat_maps(replace(evaluation, session={"schemes": described})).values()
    assert figure["data"][0]["x"] == evaluation.schemes


def test_tabs_show_the_other_runs(folder: Path, tmp_path: Path, browser: Browser) -> None:
    clicking = tmp_path / "report.html"
    click = '<script>document.querySelector("[data-shows=runs-0-2]").click()</script>'
    clicking.write_text((folder / "report.html").read_text().replace("</body>", f"{click}</body>"))
    document, console = opened(browser, clicking, ALL_DRAWN)
    assert console == []
    assert re.search(r'<div class="plot[^>]*id="runs-0"[^>]*data-figure="runs-0-2"', document)
    assert re.search(r'aria-selected="true"[^>]*data-shows="runs-0-2"', document)


def test_report_needs_nothing_but_itself(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    own = re.sub(r'<script type="application/gzip" id="packed-plotly">[^<]*', "", page)
    assert re.findall(r'(?:src|href)="(?!#|data:)', own) == []
    assert len(page) > len(own) + 1_000_000  # plotly itself, compressed


def test_the_glance_shows_each_scheme_under_its_own_name(folder: Path, evaluation: Evaluation) -> None:
    page = (folder / "report.html").read_text()
    glance = page[page.index("At a glance") : page.index("Marked: the most power")]
    heading, *rows = glance.split("<tr>")[1:]
    named = [scheme for _, scheme in sorted((heading.index(scheme), scheme) for scheme in evaluation.schemes)]
    for row, scenario in zip(rows, evaluation.scenarios, strict=True):
        shown = [float(text) for text in re.findall(r">(\d+\.\d\d)<small", row)]
        means = {mean.scheme: mean.throughput_mbps for mean in scheme_means(scenario.runs)}
        assert shown == pytest.approx([means[scheme] for scheme in named], abs=0.006)


def test_delay_axis_is_inverted(evaluation: Evaluation) -> None:
    for scenario in evaluation.scenarios:
        axis = frontier(scenario, styles(evaluation.schemes))["layout"]["xaxis"]
        assert axis["range"][0] > axis["range"][1]


def test_frontier_has_means_runs_and_ellipses(evaluation: Evaluation) -> None:
    traces = frontier(evaluation.scenarios[0], styles(evaluation.schemes))["data"]
    for scheme in evaluation.schemes:
        kinds = [trace["mode"] for trace in traces if trace["legendgroup"] == scheme]
        assert sorted(kinds) == ["lines", "markers", "markers+text"]
        flows = [flow for flow in evaluation.scenarios[0].flows if flow.scheme == scheme]
        runs = next(each for each in traces if each["legendgroup"] == scheme and each["mode"] == "markers")
        assert runs["y"] == [round(flow.metrics.throughput_mbps, 4) for flow in flows]


def test_time_series_sum_to_the_mean(evaluation: Evaluation) -> None:
    for flow in evaluation.scenarios[0].flows:
        assert flow.series is not None
        mean = flow.series.throughput_mbps.mean()
        assert mean == pytest.approx(flow.metrics.throughput_mbps, rel=0.03)
        assert flow.series.capacity_mbps == pytest.approx(12, rel=0.01)
        assert flow.series.delay_ms.max() <= flow.metrics.p99_delay_ms * 3
        assert flow.series.delay_ms.min() >= 10


def test_schemes_keep_their_colours() -> None:
    alone, together = styles(["copa"]), styles(["zebra", "copa", "kernel-bbr"])
    assert alone["copa"] == together["copa"]
    colours = [style.colour for style in together.values()]
    assert len(set(colours)) == 3


def test_report_is_made_anew(folder: Path) -> None:
    before = json.loads((folder / "summary.json").read_text())
    for name in ("summary.json", "report.html"):
        (folder / name).unlink()
    publish(folder)
    assert json.loads((folder / "summary.json").read_text()) == before
    assert (folder / "report.html").exists()
