"""Emulator specs: the shipped groups, the file format, and one clear line for every mistake."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from ccgym.configs import config_files
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.mahimahi.shells import shell_command
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec, load_emulators, select_emulators
from ccgym.tests.envs.specs.random_specs import emulators
from hypothesis import given

INDIA = {
    "name": "india",
    "delay_ms": 27,
    "uplink": {"rate_mbps": 100.42, "queue": "droptail", "packets": 173},
}


def written(folder: Path, *entries: Any) -> Path:
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({"emulators": list(entries)}))
    return path


def changed(**uplink: Any) -> dict[str, Any]:
    return {**INDIA, "uplink": {**INDIA["uplink"], **uplink}}  # type: ignore[dict-item]


def test_the_synthetic_group_is_every_rate_with_every_delay() -> None:
    specs = [emulator.spec for emulator in select_emulators("synthetic")]
    found = {(spec.uplink.rate_mbps, spec.delay_ms) for spec in specs}
    assert found == {(rate, delay) for rate in (5, 10, 20, 50, 100, 200) for delay in (10, 20, 40, 80)}
    assert all(
        link == LinkSpec(rate_mbps=spec.uplink.rate_mbps)
        for spec in specs
        for link in (spec.uplink, spec.downlink)
    )


def test_the_calibrated_group_has_the_published_parameters() -> None:
    found = {
        emulator.label: (spec.delay_ms, link.rate_mbps, link.arrivals, link.loss, link.packets)
        for emulator in select_emulators("calibrated")
        for spec, link in [(emulator.spec, emulator.spec.uplink)]
    }
    assert found == {  # ATC'18, section 4.2
        "calibrated/nepal": (28, 0.57, "poisson", 0.0477, 14),
        "calibrated/mexico": (88, 2.64, "poisson", 0, 130),
        "calibrated/brazil": (130, 3.04, "poisson", 0, 426),
        "calibrated/india": (27, 100.42, "constant", 0, 173),
        "calibrated/china": (51, 77.72, "constant", 0.0006, 94),
        "calibrated/california-mexico": (45, 114.68, "constant", 0, 450),
    }


def test_the_pathological_group_has_the_twelve_scenarios() -> None:
    labels = [emulator.label for emulator in select_emulators("pathological")]
    assert len(labels) == 12
    aggregation = select_emulators("pathological/ack-10-per-200ms")[0].spec.downlink.schedule()
    assert aggregation.opportunities_ms().tolist() == [200] * 10


def test_the_pathological_and_varying_groups_run_in_the_twin() -> None:
    for emulator in select_emulators("pathological,varying"):
        record = _core.simulate(emulator.spec.to_path(), "reno", seconds=5, seed=1)
        assert record.delivered_packets > 20, emulator.label


def test_the_pathological_group_is_rendered_for_mahimahi() -> None:
    for emulator in select_emulators("pathological"):
        assert "mm-link" in shell_command(emulator.spec)


def test_the_cellular_group_takes_its_traces_from_a_named_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCGYM_TRACES", str(tmp_path))
    (tmp_path / "Verizon-LTE-short.up").write_text("1\n")
    (tmp_path / "Verizon-LTE-short.down").write_text("2\n")
    spec = select_emulators("cellular/verizon-lte")[0].spec
    assert spec.delay_ms == 20
    assert spec.uplink.trace == tmp_path / "Verizon-LTE-short.up"
    assert spec.downlink.schedule().opportunities_ms().tolist() == [2]


def test_the_cellular_group_says_how_to_name_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CCGYM_TRACES", raising=False)
    with pytest.raises(InputError) as caught:
        select_emulators("cellular")
    assert str(caught.value) == (
        "cellular/verizon-lte: uplink.trace: $CCGYM_TRACES/Verizon-LTE-short.up: "
        "set CCGYM_TRACES to the folder of the trace files; it is not set"
    )


def test_a_missing_downlink_has_the_rate_of_the_uplink_and_nothing_else() -> None:
    spec = EmulatorSpec.model_validate(changed(rate_mbps=1.0, arrivals="poisson", seed=7, loss=0.1))
    assert spec.downlink == LinkSpec(rate_mbps=1.0, arrivals="poisson", seed=7)


def test_trace_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "short.trace").write_text("1\n")
    path = written(tmp_path, {"name": "a", "delay_ms": 1, "uplink": {"trace": "short.trace"}})
    (selected,) = select_emulators(f"file:{path}")
    assert selected.label == "mine/a"
    assert selected.spec.uplink.trace == selected.spec.downlink.trace == tmp_path / "short.trace"


def test_a_nul_in_the_path_of_a_trace_is_told(tmp_path: Path) -> None:
    file = tmp_path / "nul.yaml"
    file.write_text('emulators:\n  - {name: x, delay_ms: 1, uplink: {trace: "a\\0b"}}\n')
    with pytest.raises(InputError, match=r"a\\x00b: cannot read the trace: embedded null byte"):
        select_emulators(f"file:{file}")


def test_a_broken_trace_is_told_with_its_line_when_its_emulator_is_selected(tmp_path: Path) -> None:
    (tmp_path / "short.trace").write_text("2\n1\n")
    path = written(tmp_path, {"name": "a", "delay_ms": 1, "uplink": {"trace": "short.trace"}})
    assert load_emulators(path)[0].name == "a"
    with pytest.raises(InputError) as caught:
        select_emulators(f"file:{path}")
    trace = tmp_path / "short.trace"
    assert str(caught.value) == f"mine/a: uplink.trace: {trace}:2: 1 is before 2; times must not decrease"


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean calibrated/india"):
        select_emulators("calibrated/idnia")


def test_a_selection_keeps_its_order_and_holds_each_emulator_once() -> None:
    labels = [
        emulator.label for emulator in select_emulators("calibrated/india, calibrated/nepal,calibrated")
    ]
    assert labels[:2] == ["calibrated/india", "calibrated/nepal"]
    assert len(labels) == len(set(labels)) == 6


def test_a_name_that_stands_again_and_again_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []
    load = config_files

    def counted(kind: str) -> dict[str, Path]:
        found.append(kind)
        return load(kind)

    monkeypatch.setattr("ccgym.envs.specs.emulators.config_files", counted)
    assert [each.label for each in select_emulators("calibrated/india, " * 3000 + "calibrated/india")] == [
        "calibrated/india"
    ]
    assert found == ["emulators"]


@pytest.mark.parametrize("selection", ["mars", "calibrated/mars", "mars/india", "india", "", "synthetic,"])
def test_an_unknown_name_lists_the_known_ones(selection: str) -> None:
    with pytest.raises(InputError) as caught:
        select_emulators(selection)
    wrong = selection.split(",")[-1]
    assert str(caught.value).startswith(f"unknown emulator {wrong!r}")
    assert all(f" {group}," in str(caught.value) for group in ("calibrated", "cellular", "varying"))
    assert "random:[SPLIT:]N[:SEED], file:PATH" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_emulators_cannot_share_a_label(tmp_path: Path) -> None:
    (tmp_path / "calibrated.yaml").write_text(yaml.safe_dump({"emulators": [changed(packets=1)]}))
    with pytest.raises(InputError, match="another calibrated/india is already selected"):
        select_emulators(f"calibrated,file:{tmp_path}/calibrated.yaml")


NAN = float("nan")
QUEUE_NAMES = [repr(name) for name, _ in _core.known_queues()]
RATE = "is not within [0.0002, 10000]"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (changed(loss=1.5), "uplink.loss: 1.5 is not within [0, 1]"),
        (changed(loss=-0.1), "uplink.loss: -0.1 is not within [0, 1]"),
        (changed(loss=NAN), "uplink.loss: nan is not within [0, 1]"),
        (changed(loss="much"), "uplink.loss: 'much' is not a number"),
        (changed(rate_mbps=NAN), f"uplink.rate_mbps: nan {RATE}"),
        (changed(rate_mbps=float("inf")), f"uplink.rate_mbps: inf {RATE}"),
        (changed(rate_mbps=-12), f"uplink.rate_mbps: -12.0 {RATE}"),
        (changed(rate_mbps=0), f"uplink.rate_mbps: 0.0 {RATE}"),
        (changed(rate_mbps="12"), "uplink.rate_mbps: '12' is not a number"),
        (changed(rate_mbps=None), "uplink: has neither of rate_mbps and trace; give exactly one"),
        (changed(trace="a.trace"), "uplink: has both of rate_mbps and trace; give exactly one"),
        (changed(trace=""), "uplink.trace: '' is not the path of a file"),
        (
            {"name": "a", "delay_ms": 1, "uplink": {"trace": "a.trace", "arrivals": "poisson"}},
            "uplink: arrivals goes with rate_mbps; a trace has its own arrivals",
        ),
        (
            changed(arrivals="bursty"),
            "uplink.arrivals: 'bursty' is not one of 'constant', 'poisson', 'markov' or 'cellular'",
        ),
        (changed(seed=-1), "uplink.seed: -1 is not within [0, 9223372036854775807]"),
        (
            changed(queue="fq"),
            f"uplink.queue: 'fq' is not one of {', '.join(QUEUE_NAMES[:-1])} or {QUEUE_NAMES[-1]}",
        ),
        (changed(packets=None), "uplink: a droptail queue needs packets or bytes"),
        (
            changed(queue="infinite"),
            "uplink: an infinite queue takes no packets or bytes; a limited one is queue: droptail",
        ),
        (changed(packets=0), "uplink.packets: 0 is not within [1, 2147483647]"),
        (changed(packets=1.5), "uplink.packets: 1.5 is not a whole number"),
        (changed(packets=True), "uplink.packets: True is not a whole number"),
        (changed(queue="codel", target_ms=5), "uplink: queue codel needs interval_ms"),
        (changed(target_ms=5), "uplink: queue droptail does not take target_ms"),
        (changed(queue="pie", qdelay_ref_ms=5), "uplink: queue pie needs max_burst_ms"),
        (changed(ecn=True), "uplink: queue droptail does not take ecn"),
        (changed(queue="step"), "uplink: queue step needs threshold_packets"),
        (
            changed(queue="red", min_threshold_packets=5, max_threshold_packets=5),
            "uplink: max_threshold_packets must be above min_threshold_packets",
        ),
        (
            changed(queue="red", min_threshold_packets=5, max_threshold_packets=9, weight=2.0),
            "uplink.weight: 2.0 is not within [1e-06, 1]",
        ),
        (
            changed(ratembps=5),
            "uplink.ratembps: unknown key; known: rate_mbps, arrivals, seed, begin_s, period_s, rates_mbps, "
            "mean_stay_ms, rate_steps, rate_walk, trace, ..., "
            "did you mean rate_mbps or rates_mbps or rate_steps?",
        ),
        (
            {**INDIA, "delay": 5},
            "delay: unknown key; known: name, delay_ms, uplink, downlink, timing, nesting, once, "
            "delay_steps, delay_walk, delay_period_s, ..., "
            "did you mean delay_ms or delay_walk or delay_steps?",
        ),
        (
            {**INDIA, "delay_ms": 27.5},
            "delay_ms: 27.5 is not a whole number, which timing: mahimahi needs",
        ),
        ({**INDIA, "delay_ms": -1}, "delay_ms: -1.0 is not within [0, 60000]"),
        ({**INDIA, "delay_ms": NAN}, "delay_ms: nan is not within [0, 60000]"),
        (
            {**INDIA, "downlink": {"loss": 0.1}},
            "downlink: has neither of rate_mbps and trace; give exactly one",
        ),
        ({**INDIA, "uplink": 12}, "uplink: 12 is not a mapping of keys to values"),
        ({"name": "india", "delay_ms": 27}, "uplink: is missing"),
        (
            {**INDIA, "name": "a/b"},
            "name: 'a/b' is not a name of letters, digits, '.', '_' and '-', 200 at most",
        ),
    ],
)
def test_a_mistake_is_told_with_file_entry_and_key(
    tmp_path: Path, entry: dict[str, Any], message: str
) -> None:
    path = written(tmp_path, {**INDIA, "name": "first"}, entry)
    with pytest.raises(InputError) as caught:
        load_emulators(path)
    assert str(caught.value) == f"{path}: emulators[1] ({entry['name']}): {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "{path}: expected a key, `emulators`, with a list of emulators, and maybe `split`"),
        (
            "emulators: 3\n",
            "{path}: expected a key, `emulators`, with a list of emulators, and maybe `split`",
        ),
        (
            "split: exam\nemulators: [{name: a, delay_ms: 1, uplink: {rate_mbps: 1}}]\n",
            "{path}: split: 'exam' is not one of train, validation, test",
        ),
        ("emulators: []\n", "{path}: emulators: the list is empty; it needs at least one emulator"),
        ("emulators: [{]\n", "{path}:1: not valid YAML: expected the node content, but found ']'"),
        ("emulators: [india]\n", "{path}: emulators[0]: 'india' is not a mapping of keys to values"),
        (
            "emulators: [{name: 5, delay_ms: 1}]\n",
            "{path}: emulators[0]: name: 5 is not text; put it in quotes",
        ),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        load_emulators(path)
    assert str(caught.value) == message.replace("{path}", str(path))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"mine\.yaml: not a text file; expected YAML in UTF-8"):
        load_emulators(path)


def test_a_name_stands_once_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"emulators\[1\] \(india\): name: stands twice in this file"):
        load_emulators(written(tmp_path, INDIA, INDIA))


@pytest.mark.parametrize(
    "parameters",
    [
        {"queue": "drophead"},
        {"queue": "codel", "target_ms": 5, "interval_ms": 100},
        {"queue": "pie", "qdelay_ref_ms": 20, "max_burst_ms": 100},
    ],
)
def test_the_twin_has_every_queue(parameters: dict[str, Any]) -> None:
    spec = EmulatorSpec.model_validate(changed(rate_mbps=12.0, packets=60, **parameters))
    record = _core.simulate(spec.to_path(), "fixed:200", seconds=5, seed=1)
    assert record.delivered_packets > 3000
    assert len(record.arrival_ms) - len(record.departure_ms) > 60  # it dropped, whatever waits at the end


def test_equal_links_share_one_schedule(tmp_path: Path) -> None:
    assert LinkSpec(rate_mbps=12).schedule() is LinkSpec(rate_mbps=12, loss=0.1).schedule()
    poisson = LinkSpec(rate_mbps=12, arrivals="poisson", seed=3)
    assert poisson.schedule() is poisson.mirrored().schedule()
    trace = tmp_path / "a.trace"
    trace.write_text("1\n")
    assert LinkSpec(trace=trace).schedule() is LinkSpec(trace=trace).schedule()


def test_a_changed_trace_is_read_anew(tmp_path: Path) -> None:
    trace = tmp_path / "a.trace"
    trace.write_text("1\n")
    assert LinkSpec(trace=trace).schedule().opportunities_ms().tolist() == [1]
    trace.write_text("2\n")
    os.utime(trace, ns=(1, 1))
    assert LinkSpec(trace=trace).schedule().opportunities_ms().tolist() == [2]


@given(entry=emulators())
def test_a_spec_survives_being_written_and_read(
    tmp_path_factory: pytest.TempPathFactory, entry: dict[str, Any]
) -> None:
    spec = EmulatorSpec.model_validate(entry)
    path = written(tmp_path_factory.mktemp("specs"), spec.model_dump(mode="json", exclude_none=True))
    assert load_emulators(path) == [spec]


@pytest.mark.parametrize(
    ("file", "label"), [("...yaml", "-/mine"), ("..a<b.yaml", "-a-b/mine"), ("é-1.2.yaml", "é-1.2/mine")]
)
def test_a_file_cannot_name_a_folder_elsewhere(tmp_path: Path, file: str, label: str) -> None:
    (tmp_path / file).write_text("emulators: [{name: mine, delay_ms: 5, uplink: {rate_mbps: 5}}]\n")
    (selected,) = select_emulators(f"file:{tmp_path / file}")
    assert selected.label == label
