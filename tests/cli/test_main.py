import argparse
import errno
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ccgym.agents.shipped import policy_path
from ccgym.cli import main as command_line
from ccgym.cli.lacks import lack_of
from ccgym.cli.measuring.reproduce import FORMER_NAMES
from ccgym.configs import config_files
from ccgym.envs.errors import InputError, OutsideError
from ccgym.experiments.catalogue import EXPERIMENTS
from ccgym.tests.processes import CCGYM, MOST_SECONDS

CLI = Path(command_line.__file__).parent


def give_a_command_that_raises(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(args: argparse.Namespace) -> int:
        raise error

    monkeypatch.setattr("ccgym.cli.showing.emulators.run", run)


@pytest.mark.parametrize(
    ("error", "code"),
    [(InputError("no such thing"), 2), (OutsideError("it broke"), 1), (KeyboardInterrupt(), 130)],
)
def test_an_expected_failure_is_one_line_and_an_exit_code(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give_a_command_that_raises(monkeypatch, error)
    assert command_line.main(["emulators"]) == code
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == f"ccgym emulators: {str(error) or 'interrupted'}\n"


def test_a_termination_leaves_the_contexts_of_every_command(monkeypatch: pytest.MonkeyPatch) -> None:
    taken_down = []

    def run(args: argparse.Namespace) -> int:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            return 0
        finally:
            taken_down.append(args.command)

    monkeypatch.setattr("ccgym.cli.showing.emulators.run", run)
    before = signal.signal(signal.SIGTERM, lambda *_: None)  # else it would end the tests
    try:
        with pytest.raises(SystemExit) as ended:
            command_line.main(["emulators"])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended.value.code == 128 + signal.SIGTERM
    assert taken_down == ["emulators"]


def test_an_interrupt_before_a_command_is_known_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> argparse.ArgumentParser:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "build_parser", interrupted)
    assert command_line.main(["emulators"]) == 130
    assert capsys.readouterr().err == "ccgym: interrupted\n"


INTERRUPTED = """import sys
from ccgym.cli.main import main
class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "gymnasium":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
sys.exit(main(["report", "nothing"]))
"""


def test_an_interrupted_import_is_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False, timeout=MOST_SECONDS
    )
    assert (done.returncode, done.stderr) == (130, "ccgym report: interrupted\n")


def test_a_copy_that_finds_no_room_names_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "source", None, "target")
    give_a_command_that_raises(monkeypatch, full)
    assert command_line.main(["emulators"]) == 1
    assert capsys.readouterr().err.startswith("ccgym emulators: target: No space left on device: make room")


@pytest.mark.parametrize(
    ("error", "lack"),
    [
        (MemoryError("Unable to allocate 3 GiB"), "out of memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "Cannot allocate memory"),
        (OSError(errno.EMFILE, "Too many open files", "some"), "Too many open files"),
        (ImportError("libtorch_cpu.so: failed to map segment from shared object"), "out of memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), "out of memory"),
        (RuntimeError("can't start new thread"), "out of memory"),
    ],
)
def test_what_the_system_refuses_is_a_failure_in_one_line(
    error: BaseException, lack: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give_a_command_that_raises(monkeypatch, error)
    assert command_line.main(["emulators"]) == 1
    assert capsys.readouterr().err.startswith(f"ccgym emulators: {lack}: the system gives no more: ")


@pytest.mark.slow
def test_too_little_memory_for_the_imports_is_one_line() -> None:
    command = f"ulimit -v 60000; {shlex.join([*CCGYM, 'report', 'nothing'])}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, timeout=MOST_SECONDS
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "emory" in done.stderr  # ours, or that of the library that found none


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_lead_nowhere(closed: str, tmp_path: Path) -> None:
    words = ["trace", "constant", "--rate-mbps", "6", "--out", f"{tmp_path}/t"]
    command = f"{shlex.join([*CCGYM, *words])} {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=MOST_SECONDS)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "t").read_text() == "2\n"


def test_a_name_that_the_terminal_cannot_show_is_shown_in_other_characters(tmp_path: Path) -> None:
    words = ["trace", "constant", "--rate-mbps", "6", "--out", f"{tmp_path}/道.trace"]
    done = subprocess.run(
        [*CCGYM, *words],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
        timeout=MOST_SECONDS,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u9053.trace: 6 Mbit/s" in done.stdout


@pytest.mark.slow
def test_a_name_that_is_not_in_utf_8_goes_through_or_is_refused_in_one_line(tmp_path: Path) -> None:
    odd = os.fsdecode(b"odd\xff")
    shutil.copy(policy_path("indigo2"), tmp_path / f"{odd}.safetensors")
    evaluation = ["eval", "--emulators", "calibrated/nepal", "--seconds", "1", "--out"]
    for words, code in (
        ([*evaluation, odd, "--schemes", "fixed:3"], 0),
        (["report", odd], 0),
        ([*evaluation, "out", "--schemes", f"policy:{odd}.safetensors"], 2),
        (["train", "--algo", "ppo", "--init", f"{odd}.safetensors"], 2),
    ):
        done = subprocess.run(
            [*CCGYM, *words],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=MOST_SECONDS,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        assert code == 0 or "its name is not in UTF-8: rename" in done.stderr
    assert "odd\\udcff" in (tmp_path / odd / "report.html").read_text()


@pytest.mark.parametrize(
    ("argv", "answer"),
    [
        (["trian"], "'trian', did you mean train or trace?; known: train, "),
        (["reproduce", "copa-fairnes"], "'copa-fairnes', did you mean copa-fairness"),
        (["new", "controler", "mine"], "'controler', did you mean controller?; known: controller "),
    ],
)
def test_an_unknown_word_suggests_the_nearest(
    argv: list[str], answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        command_line.main(argv)
    assert f"invalid choice: {answer}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv",
    [
        ["train", "--out", ""],
        ["report", ""],
        ["export", "run", "--name", "mine", "--out="],
        ["reproduce", "evidence", "--out", ""],
    ],
)
def test_an_empty_path_is_not_the_current_folder(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        command_line.main(argv)
    assert ": is empty: a path would be right" in capsys.readouterr().err


def test_a_defect_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    give_a_command_that_raises(monkeypatch, KeyError("a defect"))
    with pytest.raises(KeyError):
        command_line.main(["emulators"])


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["launch"],
        ["emulators", "--jsom"],
        ["emulators", "--js"],
        ["train", "--device", "gpu"],
        *(
            ["reproduce", experiment, "--out", "out", "--minutes", minutes]
            for experiment in ("calibration-truth", "calibration-ablation", "calibration-mahimahi")
            for minutes in ("-3", "nan", "inf", "0", "soon")
        ),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        command_line.main(argv)
    assert end.value.code == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert complaint.startswith("ccgym")
    assert "--help)" in complaint


def test_an_unknown_command_is_answered_with_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command_line.main(["launch"])
    complaint = capsys.readouterr().err
    assert f"known: {', '.join(list(command_line.COMMANDS)[:10])}, ... (see ccgym --help)" in complaint


@pytest.mark.parametrize("command", command_line.COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        command_line.main([command, "--help"])
    assert end.value.code == 0
    assert f"usage: ccgym {command}" in capsys.readouterr().out


def test_every_module_with_a_command_is_listed() -> None:
    modules = {
        path.stem: path.parent.name for path in CLI.glob("*/*.py") if "\ndef add_parser(" in path.read_text()
    }
    assert modules == command_line.COMMANDS


def test_the_command_line_is_built_without_the_heavy_packages() -> None:
    program = "import sys; from ccgym.cli.main import build_parser; build_parser(); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=MOST_SECONDS,
        cwd="/",
    )
    assert not {"torch", "numpy", "matplotlib", "gymnasium"} & set(loaded.stdout.split())


def test_a_reader_that_leaves_early_brings_no_traceback() -> None:
    program = Path(sys.executable).parent / "ccgym"
    pipe = subprocess.run(
        ["bash", "-c", '"$0" emulators | true; echo "${PIPESTATUS[0]}"', program],
        capture_output=True,
        text=True,
        check=True,
        timeout=MOST_SECONDS,
    )
    # 0: all of it was in the pipe already when the reader left.
    assert pipe.stdout.strip() in {"0", "141"}
    assert pipe.stderr == ""


def test_a_backend_of_a_notebook_that_is_not_here_is_no_matter() -> None:
    program = "import sys; from ccgym.cli.main import main; main(sys.argv[1:]); import matplotlib"
    subprocess.run(
        [sys.executable, "-c", program, "schemes"],
        env={**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"},
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=MOST_SECONDS,
    )


def test_former_names_of_experiments_and_flags_work_and_are_in_no_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = command_line.build_parser()
    for former, present in FORMER_NAMES.items():
        own = ["--out", "kernel"] if former == "kernel-judge" else []
        assert (
            parser.parse_args(["reproduce", former, *own]).run.__wrapped__ == EXPERIMENTS[present].load().run
        )
    assert parser.parse_args(["reproduce", "policy-bars", "--freezing", "3"]).starvation == 3
    for argv in (["reproduce"], ["reproduce", "policy-checks"]):
        with pytest.raises(SystemExit):
            command_line.main([*argv, "--help"])
        text = capsys.readouterr().out
        assert not any(former in text for former in (*FORMER_NAMES, "--freezing"))


@pytest.mark.parametrize("command", ["train", "eval", "score", "dataset"])
def test_help_says_how_to_ask_for_links_drawn_at_random(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command_line.main([command, "--help"])
    assert "random:" in capsys.readouterr().out


REFUSED = """import sys
from ccgym.cli.main import main
out, begun, odd = sys.argv[1] + "/out", sys.argv[1] + "/begun", sys.argv[1] + "/odd.yaml"
sys.argv[1:] = []
HEAVY = {"torch", "scipy.stats", "stable_baselines3", "ray"}
for argv in (
    ["eval", "--schemes", "nothing", "--emulators", "calibrated", "--out", out],
    ["eval", "--schemes", "copa", "--emulators", "nothing", "--out", out],
    ["dataset", "--schemes", "nothing", "--emulators", "calibrated", "--out", out],
    ["dataset", "--schemes", "copa", "--emulators", "nothing", "--out", out],
    ["dataset", "--schemes", "copa", "--emulators", "calibrated", "--ray", "127.0.0.1:1", "--out", out],
    ["report", "nothing"], ["compare", "nothing", "nowhere"],
):
    assert main(argv) == 2, argv
    slow = (HEAVY | {"scipy", "jinja2", "rich", "h5py"}) & sys.modules.keys()
    assert not slow, (argv, slow)
for argv in (
    ["train", "--emulators", "nothing"], ["train", "--algo", "ppo", "--emulators", "nothing"],
    ["train", "--algo", "ppo", "--init", "nothing"], ["train", "--algo", "ppo", "--init", "indigo"],
    ["train", "--set", "monitored=nothing"], ["train", "--set", "environments=100000000"],
    *(["train", "--set", f"{key}=no.module:A"] for key in ("features", "network", "oracle")),
    ["train", "--set", "links=no.module:A"], ["train", "--algo", "ppo", "--set", "reward=no.module:A"],
    ["train", "--out", begun], ["train", "--resume", "--out", out],
    ["sweep", odd], ["calibrate", "--target", "nothing", "--out", "no/such/folder/a.yaml"],
    *(["reproduce", each, "--out", "/dev/null"] for each in (
        "adversary", "seed-spread", "rl-learns", "twin-parity", "calibration-truth", "indigo-paper", "all",
    )),
    ["reproduce", "evidence", "--out", "/dev/null"],
    ["train", "--set", "features=indigo"], ["train", "--config", "nothing"], ["train", "--track", "nothing"],
    ["train", "--out", "/dev/null"], ["train", "--resume", "--out", out], ["sweep", "nothing"],
    ["train", "--emulators", "calibrated", "--ray", "127.0.0.1:1"],
    ["eval", "--schemes", "copa", "--emulators", "calibrated", "--ray", "127.0.0.1:1", "--out", out],
    ["score", "copa", "--emulators", "calibrated", "--ray", "127.0.0.1:1"],
    ["eval", "--schemes", "copa", "--emulators", "calibrated", "--out", "/dev/null"],
    ["export", out + ".zip", "--name", "a"],
    ["calibrate", "--target", "nothing", "--out", out + ".yaml"],
):
    assert main(argv) == 2, argv
    slow = HEAVY & sys.modules.keys()
    assert not slow, (argv, slow)
"""


def test_bad_arguments_are_answered_before_the_large_libraries_are_imported(tmp_path: Path) -> None:
    (tmp_path / "begun" / "checkpoints").mkdir(parents=True)
    (tmp_path / "begun" / "checkpoints" / "latest.pt").touch()
    shutil.copy(config_files("training")["indigo-2018"], tmp_path / "begun" / "config.yaml")
    (tmp_path / "odd.yaml").write_text(
        "config: indigo2\nsettings: {monitored: nothing}\nsearch: {seed: {low: 1, high: 2}}\n"
    )
    subprocess.run([sys.executable, "-c", REFUSED, str(tmp_path)], check=True, timeout=MOST_SECONDS)


GONE = """
import os, sys
from pathlib import Path
os.chdir(sys.argv[1])
Path(sys.argv[1]).rmdir()
from ccgym.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


def test_a_current_folder_that_is_gone_is_told_in_one_line(tmp_path: Path) -> None:
    (gone := tmp_path / "gone").mkdir()
    argv = ["eval", "--schemes", "cubic", "--emulators", "calibrated/india", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", GONE, str(gone), *argv],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
        timeout=MOST_SECONDS,
    )
    assert done.returncode == 2
    assert done.stderr == "ccgym eval: the current folder has been deleted: go to another one\n"


def test_what_code_from_outside_lacks_is_not_told_as_the_systems() -> None:
    said = "libbig.so: failed to map segment from shared object"
    assert lack_of(ImportError(said)) == lack_of(RuntimeError(said)) == "out of memory"
    assert lack_of(OutsideError(said)) == ""
