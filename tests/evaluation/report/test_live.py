"""A running evaluation, watched in a browser."""

import http.client
import re
import shutil
import subprocess
import threading
import urllib.error
import urllib.request
from dataclasses import fields
from pathlib import Path

import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.evaluation.metrics.results import Evaluation, RunResult, Scenario
from ccgym.evaluation.report import live
from ccgym.evaluation.report.live import LiveEvaluation, LiveServer
from ccgym.tests.processes import CCGYM
from playwright.sync_api import sync_playwright

ANSWER_MS = 60_000


def test_a_browser_follows_it_to_the_end(tmp_path: Path) -> None:
    argv = ["eval", "--schemes", "copa,cubic,reno,bbr", "--emulators", "calibrated", "--seconds", "8"]
    command = [*CCGYM, *argv, "--no-logs", "--serve", "--out", str(tmp_path / "out")]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), chromium_sandbox=False, timeout=ANSWER_MS
        )
        tab = browser.new_page()
        said: list[str] = []
        tab.on("pageerror", lambda error: said.append(str(error)))
        evaluation = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert evaluation.stderr is not None
            url = evaluation.stderr.readline().removeprefix("watch: ").strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", url)
            tab.goto(url, timeout=ANSWER_MS)
            tab.wait_for_function(
                "document.querySelectorAll('#leaderboard tr').length > 0", timeout=ANSWER_MS
            )
            assert "--serve" in tab.inner_text("#title")
            assert re.fullmatch(r"\d+ of 24 runs, \d+ s", tab.inner_text("#progress"))
            assert "calibrated/" in tab.inner_text("#last")
            evaluation.stderr.read()
            assert evaluation.wait(60) == 0
        finally:
            evaluation.kill()
        ended = "document.querySelector('h1').textContent === 'Evaluation, ended'"
        tab.wait_for_function(ended, timeout=ANSWER_MS)
        assert said == []
        browser.close()


def test_only_this_machine_is_answered() -> None:
    with LiveServer(LiveEvaluation("ccgym eval")) as server:
        assert urllib.request.urlopen(server.url, timeout=60).status == 200
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(server.url + "etc/passwd", timeout=60)
        connection = http.client.HTTPConnection(
            "127.0.0.1", int(server.url.split(":")[-1].strip("/")), timeout=60
        )
        connection.request("GET", "/state.json", headers={"Host": "evil.example:80"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 403
        for host, code in {
            "localhost": 200,
            "127.0.0.1": 200,
            "127.0.0.1.evil.example": 403,
            ":80": 403,
        }.items():
            connection.request("GET", "/state.json", headers={"Host": host})
            answer = connection.getresponse()
            answer.read()
            assert (host, answer.status) == (host, code)
        with pytest.raises(InputError, match="choose another port"):
            LiveServer(LiveEvaluation("again"), int(server.url.split(":")[-1].strip("/")))
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(server.url, timeout=60)


def test_the_leaderboard_is_computed_once_for_all_that_was_added_and_nobody_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    computed = []
    evaluation = LiveEvaluation("ccgym eval")

    def leaderboard(scenarios: object, schemes: list[str]) -> list[object]:
        adding = threading.Thread(target=evaluation.begin, args=(7, 3), daemon=True)
        adding.start()
        adding.join(20)
        computed.append(adding.is_alive())
        return []

    monkeypatch.setattr(live, "leaderboard", leaderboard)
    total = FlowMetrics(*[1.0] * len(fields(FlowMetrics)))
    runs = [RunResult("copa", 1, [], total, None)]
    before = Evaluation(Path(), {}, [Scenario("a", "twin", "", 20, runs, [], folder=Path())])
    evaluation.add_outcome(before)
    assert [evaluation.state()["done"] for _ in range(3)] == [3, 3, 3]
    assert computed == [False], "once, and nobody waited"
    evaluation.add_outcome(before)
    evaluation.state()
    assert computed == [False, False]
