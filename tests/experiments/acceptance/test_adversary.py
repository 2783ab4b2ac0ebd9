"""A search for the worst cases finds worse ones, goes on where it stopped, and writes what can be run."""

import json
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import optuna
import pytest
from ccgym.cli.main import main
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec, load_emulators
from ccgym.envs.specs.variation_spec import RateStep
from ccgym.evaluation.schemes import select_schemes
from ccgym.experiments.acceptance import adversary, hostile_cases
from ccgym.experiments.acceptance.adversary import Answer, search, worst_of
from ccgym.experiments.acceptance.competition import Rivalry
from ccgym.experiments.acceptance.hostile_cases import ITSELF, Alone, BesideOthers, Case
from optuna.trial import FrozenTrial

(FIXED,) = select_schemes("fixed:4")


class AwayFromFiveMbps(Alone):
    """Worst at 5 Mbit/s; nothing runs."""

    def deficit(self, scheme: str, case: Case) -> float:
        return -abs(math.log((case.emulator.uplink.rate_mbps or 0) / 5))


def quiet(_: str) -> None:
    pass


def made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def evolved(
    folder: Path,
    generations: int,
    seed: int = 1,
    say: Callable[[str], None] = quiet,
    kind: Alone | None = None,
) -> Answer:
    with ThreadPoolExecutor(1) as executor:
        return search(
            FIXED,
            kind or AwayFromFiveMbps(),
            folder / "search.json",
            generations=generations,
            seed=seed,
            executor=executor,
            say=say,
        )


def test_later_generations_are_worse_than_the_random_one(tmp_path: Path) -> None:
    answer = evolved(tmp_path, generations=12)
    assert answer.at_random < -0.5
    assert answer.worst[0].deficit > -0.05
    assert sorted((found.deficit for found in answer.worst), reverse=True) == [
        found.deficit for found in answer.worst
    ]


def tried(deficit: float, rate_mbps: float, rival: str) -> FrozenTrial:
    chosen = {"rate_mbps": rate_mbps, "delay_ms": 10.0, "queue_bdp": 1.0, "rival": rival, "flows": 1}
    distributions = dict(BesideOthers.distributions)
    return optuna.trial.create_trial(params=chosen, distributions=distributions, value=deficit)


def test_a_case_is_not_shown_beside_a_worse_one_that_is_much_like_it() -> None:
    trials = [tried(1, 10, "cubic"), tried(3, 20, "cubic"), tried(2, 39, "cubic"), tried(0.5, 20, "copa")]
    shown = worst_of(trials, BesideOthers())
    assert [found.deficit for found in shown] == [3, 0.5]
    shown = worst_of([*trials, tried(0.1, 41, "cubic")], BesideOthers())
    assert [found.deficit for found in shown] == [3, 0.5, 0.1]


def test_a_search_that_was_stopped_goes_on_to_the_same_answer(tmp_path: Path) -> None:
    whole = evolved(made(tmp_path / "whole"), generations=4)

    class Stopped(AwayFromFiveMbps):
        ran = 0

        def deficit(self, scheme: str, case: Case) -> float:
            Stopped.ran += 1
            if Stopped.ran == 2 * adversary.POPULATION + 7:
                raise KeyboardInterrupt
            return super().deficit(scheme, case)

    with pytest.raises(KeyboardInterrupt):
        evolved(made(tmp_path / "stopped"), generations=4, kind=Stopped())
    again: list[str] = []
    assert evolved(made(tmp_path / "stopped"), generations=4, say=again.append) == whole
    assert len(again) == 2
    assert evolved(made(tmp_path / "other"), generations=4, seed=2) != whole
    with pytest.raises(InputError, match="of another search"):
        evolved(tmp_path / "whole", generations=4, seed=2)


@pytest.mark.parametrize("deficits", [5, [[1.0]], [["a"] * adversary.POPULATION]])
def test_a_damaged_search_is_refused_in_one_line(tmp_path: Path, deficits: object) -> None:
    evolved(tmp_path, generations=1)
    file = tmp_path / "search.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"deficits": deficits}))
    with pytest.raises(InputError, match="damaged: deficits are not 40 numbers"):
        evolved(tmp_path, generations=2)


def test_a_rival_of_the_same_kind_leaves_a_fixed_window_its_half() -> None:
    uplink = LinkSpec(rate_mbps=2.0, queue="droptail", packets=20)
    case = Case(EmulatorSpec(name="even", delay_ms=10, uplink=uplink), Rivalry(ITSELF, 1, enough=1))
    assert BesideOthers().deficit("fixed:4", case) == pytest.approx(0, abs=0.02)


def test_a_flow_that_another_starves_has_the_logarithm_of_its_part() -> None:
    uplink = LinkSpec(rate_mbps=2.0, queue="droptail", packets=100)
    case = Case(EmulatorSpec(name="uneven", delay_ms=10, uplink=uplink), Rivalry("fixed:36", 1, enough=1))
    assert BesideOthers().deficit("fixed:4", case) == pytest.approx(math.log(0.5 / 0.1), abs=0.05)
    case = Case(case.emulator, Rivalry("fixed:4", 1, enough=1))
    assert BesideOthers().deficit("fixed:36", case) == pytest.approx(math.log(0.5 / 0.1), abs=0.05)


def test_what_is_found_can_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(adversary, "POPULATION", 3)
    monkeypatch.setattr("ccgym.experiments.acceptance.hostile_cases.run_contested", _run_nothing)
    command = ["reproduce", "adversary", "--scheme", "fixed:4", "--generations", "1", "--out"]
    assert main([*command, str(tmp_path), "--json"]) == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert [answer["terrain"] for answer in answers] == ["alone", "beside others"]
    alone, contested = sorted(tmp_path.glob("*.yaml"))
    assert len(load_emulators(alone)) == len(answers[0]["worst"])
    assert all(spec.flows[-1].scheme is None for spec in load_emulators(contested))
    ran = [
        "eval",
        "--emulators",
        f"file:{alone},file:{contested}",
        "--schemes",
        "fixed:4",
        "--seconds",
        "6",
    ]
    assert main([*ran, "--out", str(tmp_path / "ran")]) == 0


def _run_nothing(_: str, rivalry: Rivalry, spec: EmulatorSpec) -> object:
    from ccgym.experiments.acceptance.competition import Contested

    return Contested(spec, share=1 / (rivalry.flows + 2), used=1.0, rivals_keep=1.0)


@pytest.mark.parametrize("scheme", ["kernel-cubic", "nonsense"])
def test_what_cannot_run_in_the_twin_is_refused(
    scheme: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "adversary", "--scheme", scheme, "--out", str(tmp_path / "out")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_who_falls_silent_alone_is_behind_over_all_the_time() -> None:
    steps = (RateStep(at_s=2.0, rate_mbps=0.0005),)
    for uplink in (LinkSpec(rate_mbps=0.0012), LinkSpec(rate_mbps=10.0, rate_steps=steps)):
        case = Case(EmulatorSpec(name="silent", delay_ms=10, uplink=uplink), None)
        assert math.isfinite(Alone().deficit("fixed:4", case))
        seconds = hostile_cases.ALONE_SECONDS
        record = _core.simulate(case.emulator.to_path(), "fixed:4", seconds=seconds, seed=0)
        delivered_mbps = 8e-6 * float(record.departure_bytes.sum()) / seconds
        p95_ms = float(np.percentile(record.departure_delay_ms, 95, method="nearest")) + 10
        power = hostile_cases._power("fixed:4", case.emulator)
        assert power == pytest.approx(delivered_mbps / p95_ms, rel=0.01)
