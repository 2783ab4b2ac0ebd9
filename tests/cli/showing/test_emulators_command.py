"""`ccgym emulators`: every emulator that ships, for a person and for a program."""

import argparse
import json

import pytest
from ccgym.cli.showing import emulators
from ccgym.envs.specs.emulators import EmulatorSpec, emulator_groups


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    parser = argparse.ArgumentParser()
    emulators.add_parser(parser.add_subparsers())
    args = parser.parse_args(["emulators", *arguments])
    assert args.run(args) == 0
    return capsys.readouterr().out


def test_lists_every_emulator_with_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    printed_lines = printed(capsys).splitlines()
    headings = [line for line in printed_lines if line.startswith("#")]
    assert headings[-1] == "# varying: split validation; seen by indigo: validation, indigo2: validation"
    lines = [line for line in printed_lines if not line.startswith("#")]
    labels = [emulator.label for group in emulator_groups().values() for emulator in group]
    assert [line.split()[0] for line in lines] == labels
    (nepal,) = [line for line in lines if line.startswith("calibrated/nepal ")]
    assert nepal.split(maxsplit=1)[1] == (
        "28 ms  0.57 Mbit/s, poisson (seed 1), loss 4.77 %, droptail 14 packets"
    )
    (aggregation,) = [line for line in lines if "ack-1-per-100ms" in line]
    assert aggregation.endswith("10 ms  12 Mbit/s, infinite; downlink 0.12 Mbit/s, infinite")


def test_needs_no_traces_to_list_the_emulators_that_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CCGYM_TRACES", raising=False)
    assert "cellular/verizon-lte" in printed(capsys)


def test_json_holds_the_whole_specs(capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(printed(capsys, "--json"))["groups"]
    groups = emulator_groups()
    assert listed.keys() == groups.keys()
    for name, group in groups.items():
        for entry, emulator in zip(listed[name], group, strict=True):
            assert entry.pop("label") == emulator.label
            assert entry.pop("split") == (emulator.split and emulator.split.value)
            assert EmulatorSpec.model_validate(entry) == emulator.spec
