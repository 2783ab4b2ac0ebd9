import json

import pytest
from ccgym.bench.case import Case, Yardstick, medians_in_turns
from ccgym.cli.main import main
from ccgym.envs import _core


def test_prints_what_scripts_rely_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "twin", "--rounds", "1", "--json"]) == 0
    cases = json.loads(capsys.readouterr().out)["cases"]
    assert {"case", "value", "unit", "cores", "yardstick", "yardstick_value", "ratio"} == set(cases[0])
    assert all(case["value"] > 0 for case in cases)


def test_measures_every_scheme_of_the_table_and_one_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "schemes", "--rounds", "1", "--json"]) == 0
    cases = {case["case"]: case for case in json.loads(capsys.readouterr().out)["cases"]}
    names = [*(name for name, *_ in _core.known_schemes()), "python"]
    assert set(cases) == {f"schemes, {name}" for name in names}
    assert all(case["unit"] == "ns/ACK" and case["value"] > 0 for case in cases.values())
    assert cases["schemes, sprout"]["ratio"] > 0


def test_names_the_subjects_it_knows_before_it_measures_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "twin", "twni"]) == 2
    output = capsys.readouterr()
    assert "'twni', did you mean twin?; known: schemes, twin, env, sender, tunnel" in output.err
    assert output.out == ""


def test_measures_in_turns_and_gives_medians() -> None:
    order: list[str] = []
    values = {"ours": iter([1.0, 9.0, 2.0]), "theirs": iter([4.0, 5.0, 3.0])}

    def measure(name: str) -> float:
        order.append(name)
        return next(values[name])

    assert medians_in_turns({"ours": lambda: measure("ours"), "theirs": lambda: measure("theirs")}, 3) == {
        "ours": 2.0,
        "theirs": 4.0,
    }
    assert order == ["ours", "theirs"] * 3


def test_a_yardstick_that_is_not_installed_gives_no_ratio() -> None:
    case = Case("case", 10.0, "ns/packet", yardstick=Yardstick("ns-3 (apt-get install libns3-dev)", None))
    assert case.ratio is None
    assert case.as_json()["yardstick"] == "ns-3 (apt-get install libns3-dev)"
