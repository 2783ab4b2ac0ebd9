"""Real mahimahi shells: what is measured in them, and that nothing is left of them, however they end."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from ccgym.envs.errors import InputError, OutsideError
from ccgym.envs.host.process_group import ProcessGroup, running_in_group
from ccgym.envs.logs.flow_metrics import measure
from ccgym.envs.logs.link_log import read_link_log
from ccgym.envs.logs.replay import replay_log
from ccgym.envs.mahimahi.kernel_tcp import FIRST_CONTROL, SEND_BUFFER_BYTES, settle_kernel_tcp
from ccgym.envs.mahimahi.shell_starts import MOST_STARTS
from ccgym.envs.mahimahi.shells import MahimahiError, MahimahiShell, free_port, shell_command
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.tests.processes import is_running, programs_in, wait_until

ANSWER_S = 10.0
LATE = "Died on std::runtime_error: dnsmasq: did not start after 20 attempts"
CODEL = {"target_ms": 5, "interval_ms": 100}


def spec_of(**fields: object) -> EmulatorSpec:
    return EmulatorSpec.model_validate(
        {"name": "test", "delay_ms": 10, "uplink": {"rate_mbps": 12}, **fields}
    )


def output(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, timeout=ANSWER_S, check=False).stdout


def traces_of(shells: ProcessGroup, folder: Path) -> list[str]:
    """What is left of shells that were: processes, NAT rules (marked with its id), interface, files."""
    mark = f"0x{shells.pid:x}/"
    return [
        *output("ps", "-ww", "--no-headers", "-o", "args", "--sid", str(shells.pid)).splitlines(),
        *(line for line in output("iptables-save").splitlines() if mark in line or line.endswith(mark[:-1])),
        *(
            line
            for line in output("ip", "-brief", "link").splitlines()
            if line.startswith(f"delay-{shells.pid} ")
        ),
        *([str(folder)] if folder.exists() else []),
    ]


@pytest.fixture
def shell() -> Iterator[MahimahiShell]:
    """A quiet path of 12 Mbit/s and 10 ms each way."""
    with MahimahiShell(spec_of()) as opened:
        yield opened


def test_command_line_is_the_published_nesting() -> None:
    spec = spec_of(
        delay_ms=28,
        uplink={"rate_mbps": 0.57, "loss": 0.0477, "queue": "droptail", "packets": 14},
        downlink={
            "rate_mbps": 1,
            "loss": 0.5,
            "queue": "codel",
            "bytes": 9000,
            "target_ms": 5,
            "interval_ms": 100,
        },
    )
    assert " ".join(shell_command(spec)) == (
        "mm-delay 28 mm-loss uplink 0.0477 mm-loss downlink 0.5 mm-link uplink.trace downlink.trace"
        " --uplink-log=uplink.log --uplink-queue=droptail --uplink-queue-args=packets=14"
        " --downlink-log=downlink.log --downlink-queue=codel"
        " --downlink-queue-args=bytes=9000,target=5,interval=100 --"
    )


def test_command_line_of_a_plain_path() -> None:
    assert " ".join(shell_command(spec_of())) == (
        "mm-delay 10 mm-link uplink.trace downlink.trace"
        " --uplink-log=uplink.log --downlink-log=downlink.log --"
    )


def test_the_shells_nest_as_the_spec_says() -> None:
    spec = spec_of(
        nesting=["link", "loss", "delay", "onoff"],
        uplink={"rate_mbps": 12, "onoff": {"mean_on_s": 5, "mean_off_s": 0.5}},
        downlink={"rate_mbps": 1, "loss": 0.25, "onoff": {"mean_on_s": 1, "mean_off_s": 2}},
    )
    assert " ".join(shell_command(spec)) == (
        "mm-link uplink.trace downlink.trace --uplink-log=uplink.log --downlink-log=downlink.log"
        " mm-loss downlink 0.25 mm-delay 10 mm-onoff uplink 5.0 0.5 mm-onoff downlink 1.0 2.0 --"
    )


def test_traces_run_once_where_the_spec_says_so() -> None:
    spec = spec_of(uplink={"trace": "/tmp/a.trace"}, once=True)
    assert "uplink.trace downlink.trace --once" in " ".join(shell_command(spec))


@pytest.mark.parametrize(
    ("beyond", "key"),
    [
        ({"timing": "continuous"}, "timing: continuous"),
        ({"delay_steps": [{"at_s": 1, "delay_ms": 5}]}, "delay_steps"),
        ({"delay_walk": {"every_ms": 9, "spread": 0.1, "low_ms": 1, "high_ms": 99}}, "delay_walk"),
        ({"flows": [{}]}, "flows"),
        ({"cross_traffic": [{"kind": "poisson", "rate_mbps": 1}]}, "cross_traffic"),
    ],
)
def test_what_no_shell_can_do_is_told(beyond: dict[str, object], key: str) -> None:
    with pytest.raises(InputError) as caught:
        shell_command(spec_of(**beyond))
    assert str(caught.value) == f"test: mahimahi's shells have no {key}; run it in the twin"


def test_kernel_tcp_fills_the_link(shell: MahimahiShell) -> None:
    port = free_port("tcp")
    shell.serve(["iperf3", "--server", "--one-off", "--port", str(port)], "tcp", port)
    client = shell.start(f"exec iperf3 --client $MAHIMAHI_BASE --port {port} --congestion reno --time 2")
    assert client.wait(20) == 0, client.complaint()
    log = shell.uplink_log()
    assert log.header is not None
    assert log.header.queue.kind == "infinite"
    metrics = measure(log.without_background(), 10, seconds=2)
    # 12 Mbit/s is one opportunity of 1500 IP bytes per ms.
    assert metrics.capacity_mbps == pytest.approx(12, rel=0.02)
    assert 0 < metrics.throughput_mbps <= metrics.capacity_mbps
    assert metrics.p95_delay_ms >= 11
    assert metrics.loss == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root settles kernel TCP")
def test_kernel_tcp_is_settled_where_sysctl_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("nsenter", "sh", "cat"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    holding = ["unshare", "--net", "sh", "-c", "echo; exec sleep 60"]
    with running_in_group(holding, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        namespace = Path(f"/proc/{holder.pid}/ns/net")
        monkeypatch.setenv("PATH", str(tmp_path))
        settle_kernel_tcp(namespace)
        monkeypatch.undo()
        read = ["nsenter", f"--net={namespace}", "cat", "/proc/sys/net/ipv4/tcp_wmem"]
        assert int(subprocess.check_output(read, timeout=ANSWER_S).split()[2]) == SEND_BUFFER_BYTES
    with pytest.raises(OutsideError, match="cannot set /proc/sys/net/ipv4 in the shell, for kernel TCP: "):
        settle_kernel_tcp(tmp_path / "none")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root settles kernel TCP")
def test_kernel_tcp_is_settled_before_a_program_begins(shell: MahimahiShell) -> None:
    settings = [Path("/proc/sys/net/ipv4") / name for name in ("tcp_wmem", "tcp_congestion_control")]
    outside = [setting.read_text() for setting in settings]
    shells = shell.start("cat " + " ".join(map(str, settings)))
    assert shells.wait(ANSWER_S) == 0
    buffers, control = (shell.folder / "mahimahi.out").read_text().splitlines()
    assert int(buffers.split()[2]) == SEND_BUFFER_BYTES
    assert control == FIRST_CONTROL
    assert [setting.read_text() for setting in settings] == outside


@pytest.mark.parametrize(
    ("nesting", "queue"),
    [
        (["delay", "loss", "link"], {"queue": "droptail", "bytes": 30_000}),
        (["loss", "link", "delay"], {"queue": "drophead", "packets": 30}),
    ],
)
def test_the_twin_replays_what_real_shells_logged(nesting: list[str], queue: dict[str, object]) -> None:
    spec = spec_of(nesting=nesting, uplink={"rate_mbps": 12, "loss": 0.01, **queue})
    with MahimahiShell(spec) as shell:
        port = free_port("tcp")
        shell.serve(["iperf3", "--server", "--one-off", "--port", str(port)], "tcp", port)
        client = shell.start(f"exec iperf3 --client $MAHIMAHI_BASE --port {port} --congestion reno --time 2")
        assert client.wait(20) == 0, client.complaint()
        for direction in ("uplink", "downlink"):
            log = read_link_log(shell.folder / f"{direction}.log")
            result = replay_log(log, shell.folder / f"{direction}.trace")
            assert result.departures > 100
            assert (result.mismatches, result.opportunity_mismatches) == (0, 0)


def test_everything_runs_without_rights(shell: MahimahiShell) -> None:
    shells = shell.start("id --user")
    assert shells.wait(ANSWER_S) == 0
    assert (shell.folder / "mahimahi.out").read_text().strip() != "0"


def test_staged_file_can_be_run(shell: MahimahiShell, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    program = tmp_path / "hello"
    program.write_text("#!/bin/sh\necho hello from $1\n")
    shells = shell.start('exec "$0" "$1"', str(shell.stage(program)), "a place with blanks")
    assert shells.wait(ANSWER_S) == 0
    assert (shell.folder / "mahimahi.out").read_text() == "hello from a place with blanks\n"


def test_failure_tells_the_commands_own_words(shell: MahimahiShell) -> None:
    shells = shell.start("echo no such thing >&2; exit 3")
    assert shells.wait(ANSWER_S) != 0
    assert shells.complaint() == "no such thing"


def test_nothing_is_left_after_a_normal_end() -> None:
    with MahimahiShell(spec_of()) as shell:
        shells = shell.start("true")
        assert shells.wait(ANSWER_S) == 0
    assert traces_of(shells, shell.folder) == []


@pytest.mark.parametrize("fate", [RuntimeError, KeyboardInterrupt])
def test_nothing_is_left_when_a_run_is_cut_off(fate: type[BaseException]) -> None:
    groups: list[ProcessGroup] = []
    with pytest.raises(fate):
        cut_off(groups, fate)
    server, shells = groups
    assert traces_of(shells, shells.folder) == []
    assert output("ps", "-ww", "--no-headers", "-o", "args", "--sid", str(server.pid)) == ""


KILLED = """
import os, signal, sys
from ccgym.envs.mahimahi import shells
from ccgym.envs.mahimahi.shells import MahimahiShell
from ccgym.envs.specs.emulator_spec import EmulatorSpec

def die(namespace: object = None) -> None:
    print((shell.folder / "ready").read_text().split()[0], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

spec = EmulatorSpec.model_validate({"name": "test", "delay_ms": 10, "uplink": {"rate_mbps": 12}})
with MahimahiShell(spec) as shell:
    if sys.argv[1] == "before it is settled":
        shells.settle_kernel_tcp = die
    shell.open()
    die()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only as root is something done between start and script")
@pytest.mark.parametrize("moment", ["before it is settled", "while it is open"])
def test_shells_end_when_this_program_is_killed(moment: str, tmp_path: Path) -> None:
    died = subprocess.run(
        [sys.executable, "-c", KILLED, moment],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},  # its folders stay
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    wait_until(lambda: not is_running(int(died.stdout)), "the inner command ends")
    wait_until(lambda: not programs_in(tmp_path), "the shells end")


def cut_off(groups: list[ProcessGroup], fate: type[BaseException]) -> None:
    """Ends in the midst of a flow over three nested shells."""
    with MahimahiShell(spec_of(uplink={"rate_mbps": 12, "loss": 0.01})) as shell:
        port = free_port("tcp")
        groups.append(shell.serve(["iperf3", "--server", "--port", str(port)], "tcp", port))
        groups.append(shell.start(f"exec iperf3 --client $MAHIMAHI_BASE --port {port} --time 60"))
        time.sleep(0.5)
        assert len(traces_of(groups[1], shell.folder)) > len(["rules", "interface", "folder"])
        raise fate("cut off")


def test_stubborn_programs_are_killed(tmp_path: Path) -> None:
    trapped = tmp_path / "trapped"
    script = f"trap '' TERM; sleep 600 & : > {trapped}; wait; wait"
    with ProcessGroup(["sh", "-c", script], tmp_path, "stubborn") as group:
        await_text(trapped)
    assert group.returncode == -9
    assert output("ps", "-ww", "--no-headers", "-o", "args", "--sid", str(group.pid)) == ""


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_port_in_use_is_told(shell: MahimahiShell, protocol: str) -> None:
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind(("0.0.0.0", 0))
        if protocol == "tcp":
            taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(MahimahiError, match=f"{protocol} port {port} is in use"):
            shell.serve(["iperf3", "--server", "--port", str(port)], protocol, port)


def test_server_that_ends_at_once_is_told(shell: MahimahiShell) -> None:
    with pytest.raises(MahimahiError, match="sh on port 9 ended at once: out of order"):
        shell.serve(["sh", "-c", "echo out of order >&2; exit 1"], "tcp", 9)


def test_shells_that_do_not_start_are_told() -> None:
    # An empty queue argument is mm-link's own complaint; the spec forbids it, so it is forced here.
    spec = spec_of().model_copy(update={"uplink": spec_of().uplink.model_copy(update={"queue": "droptail"})})
    with (
        MahimahiShell(spec) as shell,
        pytest.raises(MahimahiError, match="the mahimahi shells ended at once: "),
    ):
        shell.start("true")


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int, str], Path]]:
    """Puts a mm-delay in the place of mahimahi's whose first starts do something else; returns its folder."""
    program = shutil.which("mm-delay")
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)  # shells are another user's
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

        def write(starts: int, script: str) -> Path:
            (folder / "mm-delay").write_text(f"""#!/bin/sh
for start in $(seq {starts}); do mkdir {folder}/$start && {script}; done
exec {program} "$@"
""")
            (folder / "mm-delay").chmod(0o755)
            return folder

        yield write


@pytest.mark.parametrize(("late", "stand"), [(MOST_STARTS - 1, True), (MOST_STARTS, False)])
def test_shells_whose_name_server_is_late_are_started_again(
    late: int, stand: bool, failing: Callable[[int, str], Path]
) -> None:
    failing(late, f"echo '{LATE}' >&2 && exit 1")
    told = nullcontext() if stand else pytest.raises(MahimahiError, match=LATE)
    with MahimahiShell(spec_of()) as shell, told:
        assert shell.start("true").wait(ANSWER_S) == 0


@pytest.mark.parametrize(("still", "start_s", "stand"), [(1, 5.0, True), (MOST_STARTS, 0.3, False)])
def test_shells_that_stand_still_are_ended_and_started_again(
    still: int,
    start_s: float,
    stand: bool,
    failing: Callable[[int, str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ccgym.envs.mahimahi.shells.START_S", start_s)
    folder = failing(still, 'echo $$ >>"$(dirname "$0")"/pids && exec sleep 600')
    with MahimahiShell(spec_of()) as shell:
        with nullcontext() if stand else pytest.raises(MahimahiError, match="do not stand after"):
            assert shell.start("true").wait(ANSWER_S) == 0
        pids = (folder / "pids").read_text().split()
        assert len(pids) == still
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_two_nests_start_side_by_side() -> None:
    with MahimahiShell(spec_of()) as one, MahimahiShell(spec_of()) as other:
        for shell in (one, other):
            shell.start("echo $MAHIMAHI_BASE > told; mv told address; exec sleep 60")
        assert await_text(one.folder / "address") != await_text(other.folder / "address")


def await_text(file: Path) -> str:
    wait_until(file.exists, str(file))
    return file.read_text()
