"""A generator of bad inputs for every command, and the promise that each is answered in one line.

A case is a command that works, in which one option has been given something else, or one of the files that
it reads has been damaged. It runs in a process of its own, so that a crash, a hang or much memory is seen and
ends only that case.
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ccgym.agents.shipped import shipped_policies
from ccgym.cli.main import COMMANDS as COMMAND_MODULES
from ccgym.cli.main import MOST_CHARACTERS, build_parser, main
from hypothesis import strategies as st

MOST_SECONDS = 600
"""Before a case counts as hanging: it only ends what would never end, whatever else the machine does.
Work that goes on too long is told by its processor time."""
MOST_CPU_SECONDS = 10
"""Of an input that is refused."""
AT_WORK_AFTER_CPU_SECONDS = 6
"""Of an experiment: one that is still at work has taken its input for good."""
MOST_BYTES = 1 << 30

PRELOADED = [
    *(f"ccgym.cli.{room}.{each}" for each, room in COMMAND_MODULES.items()), "hypothesis",
    "ccgym.dagger.train", "ccgym.rl.config",
    "ccgym.calibration.calibrate", "ccgym.evaluation.sessions.run_plan",
    "ccgym.evaluation.metrics.comparison",
]  # fmt: skip
"""Modules that the processes of the cases need not import each for itself."""

ODD_VALUES = (
    "", " ", "-", "--", ".", "..", "/", "//", "~", "*", "nan", "-nan", "inf", "-inf", "-1", "-0.0", "1e309",
    "-1e309", "1e-320", "0x10", "1_000", "9" * 30, "-" + "9" * 30, "1" * 5000, "٣", "½", "1,2", ",", ",,",
    ":", "::", "a:b:c:d", "None", "null", "true", "[]", "{}", "[" * 3000, "{" * 3000, "[1,2", "{a: b",
    "&a [*a]", "!!int abc", "!!python/none x", "2026-01-01", "a=b", "=", "=1", "iterations=",
    "iterations=nan", "seed=" + "9" * 40, "hidden=[0]", "hidden=[1e9]", "shares=[1]",
    "shares={named: .nan}", "preferences=[1,0]", "features=nothing", "network=os.path:join", "random:",
    "random:0", "random:-1", "random:1e9", "random:999999999", "random:nothing:3", "random:3:" + "9" * 40,
    "file:", "file:/", "file:nothing.yaml", "file:/dev/zero", "file:pipe", "file:folder", "file:binary",
    "file:loop", "policy:", "policy:/dev/zero", "policy:pipe", "policy:folder", "policy:binary",
    "policy:empty", "policy:loop", "run:", "run:folder", "run:nothing", "python:", "python:x",
    "python:empty:A", "python:binary:A", "python:os:getcwd", "python:broken.py:A", "so:", "so:.so",
    "so:pipe", "so:binary:a:b", "so:folder", "cubic+", "+",
    "cubic+cubic+nothing", "fixed:nan", "fixed:-1", "fixed:1e8", "fixed:0", "fixed:", "rate:inf",
    "rate:1e12", "rate:-3", "copa:nan", "copa:" + "9" * 400, "indigo2:2", "indigo2:nan", "remy:",
    "remy:pipe", "remy:/dev/zero", "remy:loop", "remy:folder",
    "nothing", "indai", "calibrated/indai", "calibrated/", "/india", "synthetic,nothing",
    "pipe", "folder", "binary", "empty", "loop", "missing/file", "empty/file", "a" * 300, "a/" * 2500,
    "../" * 400, "\x1b[31mred", "<script>", "a\nb", "💥", "\ud800", "%s%n", "$(id)", "`id`", "; true",
    "-Fevil", "--help=1", "evil@host:nothing", "::1:99999", "localhost:1", "/dev/null", "/dev/full",
    "/dev/zero", "/proc/self/mem", "/proc/self/environ", "/sys/kernel/notes",
)  # fmt: skip
"""What has broken programs before; none makes a command long and right."""

SPEC = """emulators:
  - name: mine
    delay_ms: 10
    uplink: {rate_mbps: 5, arrivals: poisson, seed: 1, queue: droptail, packets: 30, loss: 0.01}
    downlink: {trace: good.trace, onoff: {mean_on_s: 2, mean_off_s: 0.2}}
    flows: [{scheme: copa}, {start_s: 0.1, extra_delay_ms: 3}]
  - name: moving
    delay_ms: 20
    timing: continuous
    delay_steps: [{at_s: 0.1, delay_ms: 30}]
    uplink: {rate_mbps: 12, rate_walk: {every_ms: 100, spread: 0.1, low_mbps: 3, high_mbps: 48}}
    cross_traffic: [{kind: onoff, rate_mbps: 3, mean_on_s: 1, mean_off_s: 2}]
"""
TABLE = """scheme,throughput_mbps,p95_delay_ms,loss
cubic,9.5,80,0.01
copa,8.9,35,0
vegas,8.5,33,0
bbr,9.2,60,0.02
"""
CONFIG = """name: mine
architecture: mlp
features: scale_free
actions: log_window
hidden: [8]
emulators: synthetic/5mbps-10ms
validation: validation/7mbps-15ms
monitored: validation/7mbps-15ms
iterations: 1
environments: 2
episode_steps: 64
sequence_steps: 16
dataset_iterations: 2
batch_sequences: 8
initial_learning_rate: 3.0e-3
final_learning_rate: 1.0e-3
evaluation_interval: 1
evaluation_seconds: 1
"""
BROKEN_CONTROLLER = (
    "class A:\n    def __init__(self, packet_bytes):\n        raise RuntimeError('on purpose')\n"
)
REPORT = """Pantheon Report
Each test lasted for 20 seconds running 1 flow.
""" + "".join(
    f"Run {run}: Statistics of {scheme}\n-- Total of 1 flow:\nAverage throughput: {9 + run / 10} Mbit/s\n"
    "95th percentile per-packet one-way delay: 62.787 ms\nLoss rate: 0.58%\n"
    for scheme in ("TCP BBR", "TCP Cubic", "TCP Vegas", "Copa")
    for run in (1, 2)
)
PERF = json.dumps(
    {
        scheme: {str(run): {"all": {"tput": 9.0, "delay": 50.0 + run, "loss": 0.01}} for run in (1, 2)}
        for scheme in ("cubic", "bbr", "copa", "vegas")
    }
)
LINK_LOG = """# mahimahi mm-link (uplink) [good.trace] > log
# command line: true
# queue: infinite
# init timestamp: 0
# base timestamp: 0
"""


@dataclass(frozen=True)
class Case:
    """A command in a folder that holds the files of `prepare`, of which some are other ones."""

    argv: list[str]
    files: dict[str, bytes] = field(default_factory=dict)


COMMANDS: dict[str, list[str]] = {
    "train": ["--emulators", "calibrated/india", "--set", "iterations=1", "--set", "environments=2", "--set",
              "variations=0", "--set", "random_emulators=1", "--set", "fading_emulators=1", "--set",
              "evaluation_seconds=1", "--out", "out"],
    "sweep": ["empty", "--out", "out"],
    "export": ["good.safetensors", "--name", "mine", "--out", "."],
    "eval": ["--schemes", "fixed:3", "--emulators", "file:good.yaml", "--seconds", "1", "--out", "out"],
    "score": ["fixed:3", "--emulators", "file:good.yaml", "--timeout", "30"],
    "dataset": ["--schemes", "fixed:3", "--emulators", "calibrated/nepal", "--out", "out"],
    "new controller": ["mine"],
    "report": ["measured"],
    "compare": ["measured", "figures"],
    "oracle": ["--rate-mbps", "2", "--delay-ms", "10"],
    "calibrate": ["--target", "good.csv", "--out", "out.yaml", "--minutes", "0.01"],
    "replay": ["good.log", "--trace", "good.trace"],
    "trace constant": ["--rate-mbps", "5", "--out", "out.trace"],
    "trace poisson": ["--rate-mbps", "5", "--seconds", "1", "--out", "out.trace"],
    "trace markov": ["--rates-mbps", "5,6", "--mean-stay-ms", "50", "--seconds", "1", "--out", "out.trace"],
    "trace cellular": ["--rate-mbps", "5", "--seconds", "1", "--out", "out.trace"],
    "emulators": [],
    "schemes": [],
    "schemes check": ["fixed:3"],
    "schemes install": ["nothing"],
    "bench": ["nothing"],
    "doctor": [],
}  # fmt: skip
"""Each works as it stands, and quickly, or is an error already."""
ERRORS_ALREADY = {"sweep", "schemes install", "bench"}
EXPERIMENTS: dict[str, list[str]] = {
    "all": ["--quick", "--out", "empty/out"],
    "preference-curve": ["--random", "1", "--seeds", "1"],
    "competition": ["--random", "1"],
    "completion-times": ["--random", "1"],
    "policy-checks": ["--random", "1"],
    "adversary": ["--scheme", "nothing", "--out", "empty/out"],
    "real-mahimahi": ["--scheme", "nothing", "--out", "empty/out"],
    "evidence": ["--out", "empty/out"],
    "seed-spread": ["--out", "empty/out"],
    "rl-learns": ["--out", "empty/out"],
    "twin-parity": ["--emulators", "nothing", "--out", "empty/out"],
    "kernel-cross-validation": ["--emulators", "nothing", "--out", "empty/out"],
    "tunnel-transparency": ["--emulators", "nothing", "--out", "empty/out"],
    "ns3-cross-validation": ["--seconds", "0"],
    "calibration-truth": ["--out", "empty/out"],
    "calibration-mahimahi": ["--emulators", "nothing", "--out", "empty/out"],
    "calibration-ablation": ["--out", "empty/out"],
    "replay-rate-trace": ["--quick", "--out", "empty/out"],
    "california-stanford": ["--quick", "--document", "report.txt", "--out", "empty/out"],
    "verizon-lte": ["--quick", "--document", "report.txt", "--out", "empty/out"],
    "copa-fairness": ["--quick", "--out", "empty/out"],
    "copa-pantheon": ["--quick", "--archive", "measured", "--out", "empty/out"],
    "pantheon-emulators": ["--quick", "--out", "empty/out"],
    "indigo-paper": ["--quick", "--out", "empty/out"],
    "pantheon-paper": ["--quick", "--out", "empty/out"],
    "calibration-benefit": ["--quick", "--out", "empty/out"],
    "oracle-table": [],
    "short-flows": ["--links", "0"],
    "copa-cross-validation": [],
    "published-cross-validation": [],
}
"""Of `ccgym reproduce`: as they stand they take long, or are an error already."""
COMMANDS |= {f"reproduce {name}": arguments for name, arguments in EXPERIMENTS.items()}


def prepare(folder: Path) -> None:
    """What the commands read, and what nobody should be given."""
    (folder / "good.yaml").write_text(SPEC)
    (folder / "good.csv").write_text(TABLE)
    (folder / "config.yaml").write_text(CONFIG)
    (folder / "good.trace").write_text("".join(f"{ms}\n" for ms in range(1, 200)))
    (folder / "good.log").write_text(
        LINK_LOG + "".join(f"{ms} + 1504\n{ms + 3} # 1504\n" for ms in range(0, 90, 6))
    )
    (folder / "broken.py").write_text(BROKEN_CONTROLLER)
    shutil.copy(shipped_policies()["indigo2"], folder / "good.safetensors")
    (folder / "binary").write_bytes(bytes(range(256)) * 8)
    (folder / "empty").touch()
    (folder / "report.txt").write_text(REPORT)
    (folder / "good.json").write_text(PERF)
    (folder / "folder").mkdir()
    for name, content in measured().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")


@cache
def measured() -> dict[str, bytes]:
    """The files of a small evaluation, in the folder `measured`; in `figures` of the same without logs."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "link.yaml").write_text("emulators: [{name: mine, delay_ms: 5, uplink: {rate_mbps: 0.5}}]\n")
        words = ["eval", "--schemes", "fixed:3,fixed:5", "--runs", "2", "--seconds", "1"]
        words += ["--emulators", f"file:{place / 'link.yaml'}", "--out"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main([*words, f"{place}/measured"])
            main([*words, f"{place}/figures", "--no-logs"])
        files = [path for path in place.glob("*/**/*") if path.is_file() and path.suffix != ".html"]
        return {str(path.relative_to(place)): path.read_bytes() for path in files}


@cache
def parsers() -> dict[str, argparse.ArgumentParser]:
    """Of every command, and of every one below it, its parser."""
    found = {}
    waiting = [("", build_parser())]
    while waiting:
        name, parser = waiting.pop()
        below = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
        waiting += [
            (f"{name} {shown.dest}".strip(), part.choices[shown.dest])
            for part in below
            for shown in part._choices_actions  # without the names of former versions
        ]
        if not below or parser.get_default("run"):
            parser.format_help()  # an experiment's options are there once somebody asks
            found[name] = parser
    return found


def options_of(command: str) -> list[str]:
    """The options of a command that take a value, and "" for each of its positional arguments."""
    return [
        action.option_strings[0] if action.option_strings else ""
        for action in parsers()[command]._actions
        if action.nargs != 0 and not isinstance(action, argparse._SubParsersAction)
    ]


def flags_of(command: str) -> list[str]:
    """The options of a command that take no value."""
    actions = parsers()[command]._actions
    return [each.option_strings[0] for each in actions if each.nargs == 0 and each.dest != "help"]


def odd_values() -> st.SearchStrategy[str]:
    """Known troublemakers, and any text."""
    return st.sampled_from(ODD_VALUES) | st.text(st.characters(exclude_characters="\0"), max_size=40)


@st.composite
def odd_arguments(draw: st.DrawFn) -> Case:
    """A command of which one argument is odd, in place of a good one or besides."""
    name = draw(
        st.sampled_from([*sorted(COMMANDS.keys() - {f"reproduce {each}" for each in EXPERIMENTS}), ""])
    )
    command = name or "reproduce " + draw(st.sampled_from(sorted(EXPERIMENTS)))
    option, value = draw(st.sampled_from([*options_of(command), ""])), draw(odd_values())
    arguments = list(COMMANDS[command])
    if option and option in arguments:
        arguments[arguments.index(option) + 1] = value
    elif option:
        arguments += [option, value]
    elif arguments and not arguments[0].startswith("-"):
        arguments[0] = value
    else:
        arguments.append(value)
    flags = draw(st.lists(st.sampled_from(flags_of(command)), max_size=1)) if flags_of(command) else []
    return Case([*command.split(), *arguments, *flags])


EVAL = ["eval", "--emulators", "file:good.yaml", "--seconds", "1", "--out", "out"]
FIT = ["--out", "out.yaml", "--minutes", "0.01"]
DATA = "measured/data/link/mine"
READERS: dict[str, list[list[str]]] = {
    "good.yaml": [[*EVAL, "--schemes", "fixed:3"]],
    "good.csv": [["calibrate", "--target", "good.csv", *FIT]],
    "good.json": [["calibrate", "--target", "good.json", *FIT]],
    "report.txt": [["calibrate", "--target", "report.txt", *FIT]],
    "config.yaml": [["train", "--config", "config.yaml", "--set", "shares=[1]", "--out", "out"]],
    "good.trace": [["replay", "good.log", "--trace", "good.trace"],
                   ["calibrate", "--target", "good.csv", "--from-trace", "good.trace", *FIT]],
    "good.log": [["replay", "good.log", "--trace", "good.trace"]],
    "good.safetensors": [[*EVAL, "--schemes", "policy:good.safetensors"],
                         ["export", "good.safetensors", "--name", "mine", "--out", "."]],
    "measured/session.json": [["report", "measured"], ["calibrate", "--target", "measured", "--few", *FIT],
                           [*EVAL[:-1], "measured", "--schemes", "fixed:3"],
                              ["compare", "measured", "figures"]],
    f"{DATA}/pantheon_metadata.json": [["report", DATA], ["calibrate", "--target", DATA, *FIT]],
    "figures/data/link/mine/fixed-3_measured_run1.json": [["report", "figures"],
                                                          ["compare", "measured", "figures"]],
    f"{DATA}/fixed-3_datalink_run1.log": [["report", "measured"], ["report", DATA],
                                          ["compare", "measured", DATA]],
}  # fmt: skip
"""Which commands read which file. A training might never end: `--set` has it refused at the latest."""
TOKENS = tuple(
    token.encode("utf-8", "surrogatepass")
    for token in (*ODD_VALUES, "\n", "\t", "- ", "  ", "'", '"', "#", "\r", "\ufeff")
)


@st.composite
def damaged_files(draw: st.DrawFn) -> Case:
    """A command one of whose files is cut, or has something odd in place of a part."""
    name = draw(st.sampled_from(sorted(READERS)))
    content = original(name)
    start = draw(st.integers(0, len(content)))
    length = draw(st.integers(0, 40) | st.integers(0, len(content)))
    token = draw(st.sampled_from(TOKENS) | st.binary(max_size=20))
    return Case(
        draw(st.sampled_from(READERS[name])), {name: content[:start] + token + content[start + length :]}
    )


def original(name: str) -> bytes:
    """A file of `prepare`."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        return (Path(folder) / name).read_bytes()


def cases() -> st.SearchStrategy[Case]:
    """All of them."""
    return odd_arguments() | damaged_files()


def offences(case: Case) -> list[str]:
    """What the promise does not allow; an exit code of 0 says that the input was not bad after all."""
    with carried_out(case) as (place, before, process_code):
        if process_code is None:
            return ["hangs"]
        if process_code == -signal.SIGXCPU:
            return []  # an experiment at work
        return list(_offences_of(place, before, process_code))


def exit_code(case: Case) -> tuple[object, str]:
    """What a command returns, and what it says on stderr."""
    with carried_out(case) as (place, _, _):
        answer, said = place / "answer.json", (place / "stderr").read_text(errors="replace")
        return json.loads(answer.read_text())[0] if answer.exists() else None, said


@contextmanager
def carried_out(case: Case) -> Iterator[tuple[Path, set[tuple[str, int]], int | None]]:
    """Where a case has run, what was there before, and the exit code of its process; None: it hangs."""
    with tempfile.TemporaryDirectory(prefix="ccgym-bad-") as name:
        folder = Path(name) / "here"
        folder.mkdir()
        prepare(folder)
        for file, content in case.files.items():
            (folder / file).write_bytes(content)
        before = contents(folder)
        process = multiprocessing.get_context("forkserver").Process(target=_run, args=(case.argv, folder))
        process.start()
        process.join(MOST_SECONDS)
        hangs = process.is_alive()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # it leads a group, and may have left others in it
        process.join()
        yield Path(name), before, None if hangs else process.exitcode


def contents(folder: Path) -> set[tuple[str, int]]:
    """What is in a folder, and of which version."""
    return {(str(path), path.lstat().st_mtime_ns) for path in folder.rglob("*") if not path.is_dir()}


def _offences_of(place: Path, before: set[tuple[str, int]], exit_code: int | None) -> Iterator[str]:
    answer = place / "answer.json"
    printed = (place / "stderr").read_text(errors="replace")
    if not answer.exists():
        yield f"ended by {exit_code}: {printed[-1500:]}"
        return
    code, used_bytes, cpu_seconds = json.loads(answer.read_text())
    if "Traceback" in printed:
        yield printed[-1500:]
    if code not in (0, 1, 2):
        yield f"exit code {code}"
    if used_bytes > MOST_BYTES:
        yield f"took {used_bytes >> 20} MB"
    if code == 2:
        last = printed.removesuffix("\n").rpartition("\n")[2] if printed.count("\n") > 1 else printed
        if printed.count("\n") != 1:
            yield f"{printed.count(chr(10))} lines: {printed[:1000]!r}"
        if len(last) > MOST_CHARACTERS + 1:
            yield f"a line of {len(last)} characters"
        if written := contents(place / "here") - before:
            yield f"wrote {sorted(path for path, _ in written)}"
        if cpu_seconds > MOST_CPU_SECONDS:
            yield f"took {cpu_seconds:.1f} s of the processor"


def _run(argv: list[str], folder: Path) -> None:
    """In the process of the case."""
    os.setsid()
    os.chdir(folder)
    for stream, name in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
        descriptor = os.open(folder.parent / name, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(descriptor, stream.fileno())
    if argv[:1] == ["reproduce"]:
        spent = int(_cpu_seconds()) + AT_WORK_AFTER_CPU_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (spent, spent + 60))
    bytes_before, seconds_before = _peak_bytes(), _cpu_seconds()
    code = _exit_code(lambda: main(argv))
    sys.stdout.flush()
    sys.stderr.flush()
    answer = folder.parent / "answer.json"
    answer.write_text(json.dumps([code, _peak_bytes() - bytes_before, _cpu_seconds() - seconds_before]))


def _exit_code(command: Callable[[], int]) -> object:
    try:
        return command()
    except SystemExit as end:
        return end.code


def _peak_bytes() -> int:
    return 1024 * max(each.ru_maxrss for each in _usage())


def _cpu_seconds() -> float:
    return sum(each.ru_utime + each.ru_stime for each in _usage())


def _usage() -> list[resource.struct_rusage]:
    return [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
