"""Sessions: what is run, in which order, what is kept, what is left to do after an interruption."""

import dataclasses
import errno
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from ccgym.agents.mlp import MlpPolicy
from ccgym.agents.policy_file import save_policy
from ccgym.agents.policy_header import PolicySpec
from ccgym.agents.seen_links import SeenLinks
from ccgym.envs.errors import InputError
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.specs.digest import spec_digest
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec
from ccgym.envs.specs.emulators import NamedEmulator, select_emulators
from ccgym.envs.specs.variation_spec import RateStep
from ccgym.evaluation.backends.backend import PlannedFlow
from ccgym.evaluation.backends.make_backend import make_backend
from ccgym.evaluation.backends.tunnelled.remote_path import Network
from ccgym.evaluation.backends.twin_backend import TwinBackend
from ccgym.evaluation.metrics.results import load_evaluation
from ccgym.evaluation.metrics.summary import summarise
from ccgym.evaluation.report.publish import leaderboard_lines
from ccgym.evaluation.run_files import RunFiles
from ccgym.evaluation.schemes import Kind, Scheme, select_schemes
from ccgym.evaluation.sessions.session import REFUSED, Outcome, Plan, PlannedRun, open_session, run_session


class FailingBackend(TwinBackend):
    """The twin, but for one scheme."""

    def run(self, spec: Network, flows: list[PlannedFlow], seed: int, files: RunFiles) -> list[LinkLog]:
        if flows[0].scheme.label == "reno":
            raise RuntimeError("stalled:\n no ACK")
        return super().run(spec, flows, seed, files)


@pytest.fixture
def plan(two_emulators: list[NamedEmulator]) -> Plan:
    return Plan(two_emulators, select_schemes("copa,reno,fixed:30"), 2, 3.0, 1, "twin", "ccgym eval ...")


def run_all(plan: Plan, folder: Path, backend: TwinBackend | None = None) -> list[Outcome]:
    return list(run_session(plan, folder, open_session(plan, folder), backend or TwinBackend()))


def test_every_scheme_meets_every_emulator_in_every_run(plan: Plan, tmp_path: Path) -> None:
    planned_runs = open_session(plan, tmp_path)
    met = Counter((planned.emulator.label, planned.scheme.label, planned.run) for planned in planned_runs)
    assert len(met) == 2 * 3 * 2
    assert set(met.values()) == {1}
    # Round-robin: the first run of everything before the second run of anything.
    assert [planned.run for planned in planned_runs] == [1] * 6 + [2] * 6


def test_order_is_drawn_from_the_seed(plan: Plan, tmp_path: Path) -> None:
    orders = [
        open_session(dataclasses.replace(plan, seed=seed), tmp_path / str(index))
        for index, seed in enumerate((1, 1, 2))
    ]
    assert orders[0] == orders[1] != orders[2]
    rounds = [[(each.emulator.label, each.scheme.label) for each in orders[0][at : at + 6]] for at in (0, 6)]
    assert rounds[0] != rounds[1]


def test_schemes_of_a_run_share_the_seed_of_the_network(plan: Plan) -> None:
    def seed(emulator: int, scheme: int, run: int) -> int:
        return PlannedRun(plan.emulators[emulator], plan.schemes[scheme], run).seed(plan.seed)

    assert seed(0, 0, 1) == seed(0, 1, 1)
    assert len({seed(0, 0, 1), seed(0, 0, 2), seed(1, 0, 1)}) == 3


def test_figures_of_the_twin(plan: Plan, tmp_path: Path) -> None:
    (quick, slow), fixed = plan.emulators, plan.schemes[2]
    outcomes = {
        (each.planned.emulator, each.planned.scheme): each.metrics for each in run_all(plan, tmp_path)
    }
    metrics = outcomes[quick, fixed]
    assert metrics is not None
    # 30 packets of 1464 IP bytes wait for one opportunity per ms on a round trip of 20 ms: the link is full.
    assert metrics.throughput_mbps == pytest.approx(12 * 1464 / 1500, rel=0.03)
    assert metrics.utilisation == pytest.approx(1464 / 1500, rel=0.03)
    lossy = outcomes[slow, fixed]
    assert lossy is not None
    # 30 packets do not fit 10 places and the path: the queue drops, and 1 % is lost behind it.
    assert lossy.loss > 0.01


def test_data_directory_is_pantheons(plan: Plan, tmp_path: Path) -> None:
    run_all(plan, tmp_path)
    folder = tmp_path / "data" / "test" / "slow"
    assert {path.name for path in folder.iterdir()} == {
        "pantheon_metadata.json",
        *(
            f"{scheme}_{kind}_run{run}.log"
            for scheme in ("copa", "reno", "fixed-30")
            for kind in ("datalink", "stats")
            for run in (1, 2)
        ),
    }
    metadata = json.loads((folder / "pantheon_metadata.json").read_text())
    assert metadata["cc_schemes"] == ["copa", "fixed-30", "reno"]
    assert (metadata["run_times"], metadata["runtime"], metadata["flows"]) == (2, 3.0, 1)
    assert metadata["prepend_mm_cmds"] == "mm-delay 20 mm-loss uplink 0.01"
    assert metadata["extra_mm_link_args"] == "--uplink-queue=droptail --uplink-queue-args=packets=10"
    page = (folder / "copa_stats_run1.log").read_text().splitlines()
    assert page[0].startswith("Start at: ")
    assert page[4:7][:2] == ["# Datalink statistics", "-- Total of 1 flow:"]
    assert page[6].startswith("Average capacity: 2.0")
    # Pantheon's analysis of this directory finds what ours finds.
    pantheons = load_evaluation(folder).scenarios[0].flows
    ours = next(each for each in load_evaluation(tmp_path).scenarios if each.label == "test/slow").flows
    figures = {(flow.scheme, flow.run): flow.metrics.pantheon_throughput_mbps for flow in ours}
    assert {(flow.scheme, flow.run): flow.metrics.pantheon_throughput_mbps for flow in pantheons} == figures


def test_flows_share_the_link_in_the_twin(plan: Plan, tmp_path: Path) -> None:
    shared = dataclasses.replace(
        plan, schemes=select_schemes("fixed:10+fixed:20"), runs=1, flows=3, interval_s=0.5
    )
    run_all(shared, tmp_path)
    quick = next(each for each in load_evaluation(tmp_path).scenarios if each.label == "test/quick")
    (run,) = quick.runs
    assert [flow.flow_scheme for flow in run.flows] == ["fixed-10", "fixed-20", "fixed-10"]
    began_s = [(flow.metrics.start_ms - run.total.start_ms) / 1000 for flow in run.flows]
    assert began_s == pytest.approx([0, 0.5, 1], abs=0.1)
    # 40 packets fill 12 Mbit/s over 20 ms; throughputs are as the windows: (1 + 2 + 1)^2 / (3 (1 + 4 + 1)).
    assert run.total.utilisation > 0.8
    assert run.fairness is not None
    assert run.fairness.jain[-1] == pytest.approx(16 / 18, abs=0.02)
    again = dataclasses.replace(shared, keep_logs=False)
    run_all(again, tmp_path / "again")
    assert summarise(load_evaluation(tmp_path / "again")) == summarise(load_evaluation(tmp_path))


def test_failed_run_is_recorded_and_the_rest_goes_on(plan: Plan, tmp_path: Path) -> None:
    outcomes = run_all(plan, tmp_path, FailingBackend())
    failed = [outcome for outcome in outcomes if outcome.metrics is None]
    assert len(outcomes) == 12
    assert {(outcome.planned.scheme.label, outcome.failure) for outcome in failed} == {
        ("reno", "stalled: no ACK")
    }
    summary = summarise(load_evaluation(tmp_path))
    assert len(summary["failures"]) == 4
    assert summary["failures"][0] == {
        "emulator": "test/quick",
        "scheme": "reno",
        "run": 1,
        "reason": "stalled: no ACK",
    }
    assert [entry["scheme"] for entry in summary["scenarios"][0]["schemes"]] == ["copa"] * 2 + [
        "fixed-30"
    ] * 2
    row = next(row for row in summary["table"] if row["scheme"] == "reno")
    assert (row["frontier_share"], row["mean_log_power"], row["winning_rate"]) == (0, None, 0)


def test_interrupted_session_runs_the_rest_only(plan: Plan, tmp_path: Path) -> None:
    planned_runs = open_session(plan, tmp_path)
    session = run_session(plan, tmp_path, planned_runs, TwinBackend())
    first = [next(session).planned for _ in range(5)]
    left = open_session(plan, tmp_path)
    assert left == [planned for planned in planned_runs if planned not in first]


def test_what_an_interruption_has_left_is_told_and_counts_for_nobody(plan: Plan, tmp_path: Path) -> None:
    done = next(run_session(plan, tmp_path, open_session(plan, tmp_path), TwinBackend())).planned
    summary = summarise(load_evaluation(tmp_path))
    left = {"emulator": done.emulator.label, "remark": "5 of 6 runs have not been run"}
    assert left in summary["remarks"]
    shares = {row["scheme"]: row["frontier_share"] for row in summary["table"]}
    assert shares[done.scheme.label] == 1


def test_resumed_session_gives_what_an_uninterrupted_one_gives(plan: Plan, tmp_path: Path) -> None:
    session = run_session(plan, tmp_path / "a", open_session(plan, tmp_path / "a"), TwinBackend())
    for _ in range(5):
        next(session)
    run_all(plan, tmp_path / "a")
    run_all(plan, tmp_path / "b")
    a, b = (summarise(load_evaluation(tmp_path / name)) for name in "ab")
    assert a == b


def test_failed_runs_are_run_again(plan: Plan, tmp_path: Path) -> None:
    run_all(plan, tmp_path, FailingBackend())
    assert {planned.scheme.label for planned in open_session(plan, tmp_path)} == {"reno"}
    run_all(plan, tmp_path)
    assert summarise(load_evaluation(tmp_path))["failures"] == []


def test_schemes_emulators_and_runs_can_be_added(plan: Plan, tmp_path: Path) -> None:
    small = dataclasses.replace(plan, emulators=plan.emulators[:1], schemes=plan.schemes[:1], runs=1)
    run_all(small, tmp_path)
    assert len(open_session(plan, tmp_path)) == 12 - 1
    assert list(load_evaluation(tmp_path).session["schemes"]) == ["copa", "reno", "fixed-30"]


@pytest.mark.parametrize(("field", "value"), [("seconds", 4.0), ("seed", 2), ("backend", "mahimahi")])
def test_another_evaluation_is_refused(plan: Plan, tmp_path: Path, field: str, value: object) -> None:
    open_session(plan, tmp_path)
    other = dataclasses.replace(plan, **{field: value})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"this one has {field} .*, not {value}: choose another --out"):
        open_session(other, tmp_path)


def test_changed_policy_is_refused(plan: Plan, tmp_path: Path, write_policy: Callable[..., Path]) -> None:
    file = write_policy(tmp_path / "mine.safetensors", seed=1)
    plan = dataclasses.replace(plan, schemes=select_schemes(f"policy:{file}"))
    open_session(plan, tmp_path / "out")
    write_policy(file, seed=2)
    with pytest.raises(InputError, match="mine has changed since this evaluation began"):
        open_session(plan, tmp_path / "out")


def test_folder_with_something_else_is_refused(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match="is not empty and holds no evaluation"):
        open_session(plan, tmp_path)
    (tmp_path / "session.json").write_text("{}")
    with pytest.raises(InputError, match="not the description of an evaluation"):
        open_session(plan, tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("seconds", "3", "seconds is 3, should be a number"),
        ("seconds", 0, "seconds is 0, should be 0.001 to"),
        ("interval", -1.0, "interval is -1.0, should be 0 to"),
        ("schemes", {"copa": 1}, "copa is 1, should be a mapping"),
        ("schemes", {"copa": {}}, "kind of copa is None, should be text"),
        (
            "schemes",
            {"a": {"kind": "mix", "flies": "", "members": [[]]}},
            "a member of a is .*, should be text",
        ),
        ("schemes", {"a": {"kind": "mix", "flies": "", "members": []}}, "members of a are none"),
        ("schemes", {"a" * 250: {"kind": "native", "flies": ""}}, "aaa.* is no name of a scheme"),
        ("schemes", {"\ud800": {"kind": "native", "flies": ""}}, "is no name of a scheme"),
        ("emulators", {"a/../b": {}}, "a/../b is no name of an emulator"),
        ("emulators", {"b" * 250: {}}, "bbb.* is no name of an emulator"),
        ("seen", {"copa": {"a/b": []}}, "how copa has seen a/b is .*, should be one of train"),
        ("emulators", {"a/b": {"name": "b", "delay_ms": 1, "uplink": {"rate_mbps": -1}}}, "rate_mbps"),
    ],
)
def test_a_damaged_description_is_refused_before_anything_runs(
    plan: Plan, tmp_path: Path, key: str, value: object, complaint: str
) -> None:
    open_session(plan, tmp_path)
    file = tmp_path / "session.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    with pytest.raises(InputError, match=f"not the description of an evaluation: .*{complaint}"):
        open_session(plan, tmp_path)


def test_a_program_whose_flow_ends_early_is_a_failure(plan: Plan, tmp_path: Path) -> None:
    class BriefBackend(TwinBackend):
        name = "mahimahi"
        in_real_time = True

        def run(self, spec: Network, flows: list[PlannedFlow], seed: int, files: RunFiles) -> list[LinkLog]:
            halved = [dataclasses.replace(flow, seconds=flow.seconds / 2) for flow in flows]
            return super().run(spec, halved, seed, files)

    outcomes = run_all(plan, tmp_path, BriefBackend())
    assert all(outcome.metrics is None for outcome in outcomes)
    assert "s of 3 s" in outcomes[0].failure
    # Its log stays out of the data directory, which Pantheon's analysis would read.
    assert load_evaluation(tmp_path).scenarios[0].flows == []


def test_kernel_schemes_are_not_in_the_twin(two_emulators: list[NamedEmulator]) -> None:
    kernel = [Scheme("kernel-bbr", Kind.KERNEL, "bbr")]
    refused = make_backend("twin").refusal(two_emulators[0].spec, kernel)
    assert refused is not None
    assert "'kernel-bbr' is not in the twin" in refused


def test_a_refusal_of_an_earlier_version_is_still_one(plan: Plan, tmp_path: Path) -> None:
    run_all(plan, tmp_path, FailingBackend())
    failure = next(tmp_path.rglob("*_failure_*"))
    failure.write_text("cannot fly here: no kernel\n")
    reasons = {each.reason for one in load_evaluation(tmp_path).scenarios for each in one.failures}
    assert f"{REFUSED}no kernel" in reasons


def test_what_no_shell_can_do_runs_in_the_twin(tmp_path: Path) -> None:
    emulators = select_emulators("varying")
    plan = Plan(emulators, select_schemes("copa"), 1, 2.0, 1, "twin", "ccgym eval ...")
    run_all(plan, tmp_path)
    assert len(load_evaluation(tmp_path).scenarios) == len(emulators)


def test_a_scheme_runs_under_the_application_of_its_spec(tmp_path: Path) -> None:
    flows = [{"bytes": 150_000, "mean_think_s": 0.2}]
    fields = {"name": "requests", "delay_ms": 10, "uplink": {"rate_mbps": 12}, "flows": flows}
    emulator = NamedEmulator("test/requests", EmulatorSpec.model_validate(fields))
    plan = Plan([emulator], select_schemes("fixed:30"), 1, 10.0, 1, "twin", "ccgym eval ...")
    (outcome,) = run_all(plan, tmp_path)
    assert outcome.metrics is not None
    # An answer takes 0.12 s of a link that it fills, then nothing is sent for 0.2 s in the mean.
    assert outcome.metrics.utilisation == pytest.approx(0.12 / 0.32, abs=0.1)


def test_a_flow_of_a_spec_that_would_begin_after_the_run_is_refused() -> None:
    fields = {"name": "late", "delay_ms": 10, "uplink": {"rate_mbps": 12}, "flows": [{"start_s": 10}]}
    emulators = [NamedEmulator("test/late", EmulatorSpec.model_validate(fields))]
    with pytest.raises(InputError, match="late: flows: the first without a scheme begins after the 10 s of"):
        Plan(emulators, select_schemes("copa"), 1, 10.0, 1, "twin", "ccgym eval ...")
    Plan(emulators, select_schemes("copa"), 1, 10.1, 1, "twin", "ccgym eval ...")
    Plan(emulators, select_schemes("copa+cubic"), 1, 10.0, 1, "twin", "ccgym eval ...")  # flows of its own


def test_traces_that_are_not_there_are_refused() -> None:
    uplink = {"trace": "$CCGYM_NO_SUCH_FOLDER/a.up"}
    spec = EmulatorSpec.model_validate({"name": "odd", "delay_ms": 1, "uplink": uplink})
    refused = make_backend("twin").refusal(spec, select_schemes("copa"))
    assert refused is not None
    assert "set CCGYM_NO_SUCH_FOLDER to the folder of the trace files" in refused


@pytest.mark.parametrize("nesting", [["delay", "onoff", "loss", "link"], ["link", "loss", "onoff", "delay"]])
def test_a_delay_that_steps_is_told_as_the_packets_had_it(nesting: list[str], tmp_path: Path) -> None:
    fields = {
        "name": "steps",
        "delay_ms": 20,
        "delay_steps": [{"at_s": 2, "delay_ms": 60}],
        "nesting": nesting,
        "uplink": {"rate_mbps": 12, "loss": 0.05, "queue": "droptail", "packets": 100},
    }
    emulator = NamedEmulator("test/steps", EmulatorSpec.model_validate(fields))
    plan = Plan([emulator], select_schemes("fixed:5"), 1, 4.0, 1, "twin", "ccgym eval ...")
    (outcome,) = run_all(plan, tmp_path)
    assert outcome.metrics is not None
    # 5 packets of a round trip wait for 1 to 5 ms; half of the time they travel for 20 ms, then for 60 ms.
    assert 61 <= outcome.metrics.p95_delay_ms <= 65
    assert outcome.metrics.loss == pytest.approx(0.05, abs=0.03)
    (run,) = load_evaluation(tmp_path).scenarios[0].runs
    assert run.total == outcome.metrics
    series = run.flows[0].series
    assert series is not None
    early, late = series.delay_ms[series.delay_s < 1.9], series.delay_ms[series.delay_s > 2.1]
    assert 21 <= early.min() <= early.max() <= 25
    assert 61 <= late.min() <= late.max() <= 65


def seen_policy(file: Path, spec: EmulatorSpec) -> str:
    """A policy that was trained on one link and validated on another."""
    seen = SeenLinks(frozenset({spec_digest(spec)}), frozenset({"AAAAAAAA"}))
    policy = PolicySpec(feature_set="scale_free", actions="log_window")
    save_policy(file, MlpPolicy(30, [4], 1), policy, trained_on="", seen=seen)
    return f"policy:{file}"


def test_scenarios_that_a_scheme_was_trained_on_are_apart_from_the_others(plan: Plan, tmp_path: Path) -> None:
    quick, slow = plan.emulators
    assert isinstance(quick.spec, EmulatorSpec)
    scheme = seen_policy(tmp_path / "mine.safetensors", quick.spec)
    learned = dataclasses.replace(plan, schemes=select_schemes(f"copa,{scheme}"), runs=1)
    run_all(learned, tmp_path / "out")
    summary = summarise(load_evaluation(tmp_path / "out"))
    seen = {scenario["emulator"]: scenario["seen"] for scenario in summary["scenarios"]}
    assert seen == {quick.label: {"mine": "train"}, slow.label: {"mine": "no"}}
    assert summary["unseen"]["scenarios"] == 1
    powers = {row["scheme"]: row["mean_log_power"] for row in summary["unseen"]["table"]}
    (alone,) = [each for each in load_evaluation(tmp_path / "out").scenarios if each.label == slow.label]
    (copa,) = [run for run in alone.runs if run.scheme == "copa"]
    assert powers["copa"] == pytest.approx(math.log(copa.total.throughput_mbps / copa.total.p95_delay_ms))
    lines = leaderboard_lines(summary)
    assert lines[0] == "1 of 2 scenarios, which no learned scheme has seen in its training:"
    assert "all 2 scenarios:" in lines


def test_a_mix_has_seen_what_one_of_its_members_has(plan: Plan, tmp_path: Path) -> None:
    quick, slow = plan.emulators
    assert isinstance(quick.spec, EmulatorSpec)
    assert isinstance(slow.spec, EmulatorSpec)
    (mix,) = select_schemes(f"{seen_policy(tmp_path / 'mine.safetensors', quick.spec)}+cubic")
    assert mix.is_learned
    digests = {"quick": spec_digest(quick.spec), "slow": spec_digest(slow.spec)}
    assert mix.seen(digests) == {"quick": "train", "slow": "no"}


def test_an_evaluation_is_not_gone_on_with_after_its_trace_has_changed(plan: Plan, tmp_path: Path) -> None:
    trace = tmp_path / "link.trace"
    trace.write_text("1\n2\n")
    spec = EmulatorSpec(name="traced", delay_ms=10, uplink=LinkSpec(trace=trace))
    traced = dataclasses.replace(plan, emulators=[NamedEmulator("own/traced", spec)])
    open_session(traced, tmp_path / "out")
    open_session(traced, tmp_path / "out")
    trace.write_text("1\n3\n")
    with pytest.raises(InputError, match="own/traced has changed since this evaluation began"):
        open_session(traced, tmp_path / "out")


def test_every_run_is_a_draw_of_its_own_and_all_schemes_meet_it(tmp_path: Path) -> None:
    spec = EmulatorSpec(name="chance", delay_ms=10, uplink=LinkSpec(rate_mbps=6.0, arrivals="poisson"))
    schemes = select_schemes("fixed:40,fixed:60")
    plan = Plan([NamedEmulator("own/chance", spec)], schemes, 3, 3.0, 1, "twin", "ccgym eval ...")
    run_all(plan, tmp_path)
    runs = load_evaluation(tmp_path).scenarios[0].runs
    capacities = {
        scheme.label: [run.total.capacity_mbps for run in runs if run.scheme == scheme.label]
        for scheme in schemes
    }
    # A link that is never idle: what it could deliver is what was drawn, all but the first packets alike.
    assert len({round(capacity, 1) for capacity in capacities["fixed-40"]}) > 1
    assert capacities["fixed-40"] == pytest.approx(capacities["fixed-60"], rel=0.01)


def test_a_mistake_of_ours_shows_where_it_is_and_costs_one_run(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = run_all(plan, tmp_path, FailingBackend())
    assert sum(outcome.metrics is None for outcome in outcomes) == 4
    told = capsys.readouterr().err
    assert "Traceback (most recent call last)" in told
    assert 'raise RuntimeError("stalled:\\n no ACK")' in told


def test_a_run_that_begins_while_the_link_is_silent_has_not_failed(plan: Plan, tmp_path: Path) -> None:
    silent = (RateStep(at_s=3, rate_mbps=0.0), RateStep(at_s=8, rate_mbps=12.0))
    link = LinkSpec(rate_mbps=12.0, rate_steps=silent, period_s=10, queue="droptail", packets=50)
    emulators = [NamedEmulator("own/silent", EmulatorSpec(name="silent", delay_ms=10, uplink=link))]
    # Half of the time the link stands still: of twelve draws of 6 s about half begin or end there.
    done = run_all(dataclasses.replace(plan, emulators=emulators, runs=12, seconds=6.0), tmp_path)
    assert [outcome.failure for outcome in done] == [""] * 36


class OnAFullDisk(TwinBackend):
    """Whose logs find no room."""

    def run(self, spec: Network, flows: list[PlannedFlow], seed: int, files: RunFiles) -> list[LinkLog]:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_no_mistake_of_ours(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = run_all(dataclasses.replace(plan, runs=1), tmp_path, OnAFullDisk())
    assert {outcome.failure for outcome in outcomes} == {"[Errno 28] No space left on device"}
    assert capsys.readouterr().err == ""
