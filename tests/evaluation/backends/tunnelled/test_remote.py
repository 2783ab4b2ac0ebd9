"""Real paths: two hosts of their own, propagation, a bottleneck and NATs between them, and an sshd."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from ccgym.envs.logs.packet_capture import PacketRecords
from ccgym.evaluation.backends.tunnelled.clock_offset import (
    clock_offset,
    on_the_senders_clock,
    quickest_ntp_answer_ms,
    remote_offset_ms,
    write_clock_offset,
)
from ccgym.evaluation.backends.tunnelled.remote_path import remote_paths
from ccgym.evaluation.backends.tunnelled.tunnelled_flows import TunnelRecords
from ccgym.evaluation.run_files import read_merged_log
from ccgym.tests.evaluation.backends.fake_pantheon import make_checkout
from ccgym.tests.processes import CCGYM, wait_until

from .distant_host import DELAY_MS, NAME, NTP_SERVER, RATE_MBPS, DistantHost

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/usr/sbin/sshd").exists() or shutil.which("mm-delay") is None,
    reason="needs root, openssh-server and mahimahi",
)
ENDING_S = 300.0


@pytest.fixture(scope="module")
def host() -> Iterator[DistantHost]:
    with tempfile.TemporaryDirectory(prefix="ccgym-distant-") as folder:
        Path(folder).chmod(0o755)  # the shell between the hosts is a user's without rights
        with DistantHost(Path(folder)) as host:
            yield host


def evaluation(host: DistantHost, out: Path, *options: str) -> list[str]:
    where = ["--remote", f"root@{NAME}", "--out", str(out), *options]
    return [*host.here, *CCGYM, "eval", *where]


def run(host: DistantHost, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        evaluation(host, out, *options),
        capture_output=True,
        text=True,
        timeout=ENDING_S,
        check=False,
        env=host.environment,
    )


def await_nothing_left(host: DistantHost, timeout_s: float = 10) -> None:
    """A tunnel server over there ends a moment after its connection: it hears of it over the network."""
    wait_until(lambda: not host.processes_there() and not list(host.scratch.iterdir()), "the end", timeout_s)


@needs_root
def test_flows_of_several_schemes_in_both_directions(host: DistantHost, tmp_path: Path) -> None:
    options = ["--schemes", "fixed:40+kernel-reno", "--seconds", "2", "--interval", "1", "--ntp", NTP_SERVER]
    done = run(host, tmp_path / "out", *options, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert [each["emulator"] for each in summary["scenarios"]] == [f"path/{NAME}-up", f"path/{NAME}-down"]
    for scenario in summary["scenarios"]:
        first, second, together = scenario["schemes"]
        assert (first["flow_scheme"], second["flow_scheme"]) == ("fixed-40", "kernel-reno")
        assert first["begins_s"] < second["begins_s"]
        # Forty packets fill the path alone; the shaper passes no more than its rate and a burst.
        assert 0 < together["throughput_mbps"] < 1.05 * RATE_MBPS
        folder = tmp_path / "out" / "data" / scenario["emulator"]
        clock = json.loads((folder / "fixed-40+kernel-reno_clock_run1.json").read_text())
        assert np.isfinite([clock["two_way_ms"], clock["ntp_ms"]]).all()
        merged = read_merged_log(folder / "fixed-40+kernel-reno_datalink_run1.log").flows
        quickest_ms = min(log.departure_delay_ms.min() for log in merged.values())
        # Both ends have one clock, so what was applied to it comes off; that of the shell counts whole ms.
        assert quickest_ms + clock["applied_ms"] > DELAY_MS - 1
        assert clock["applied_ms"] in (clock["ntp_ms"], clock["two_way_ms"])
        acks = read_merged_log(folder / "fixed-40+kernel-reno_acklink_run1.log").flows
        assert all(log.departure_bytes.max() < 200 for log in acks.values())
        metadata = json.loads((folder / "pantheon_metadata.json").read_text())
        sender = {"up": "local", "down": "remote"}[scenario["emulator"].rpartition("-")[2]]
        assert (metadata["mode"], metadata["sender_side"]) == ("remote", sender)
        assert "Remote clock offset: " in (folder / "fixed-40+kernel-reno_stats_run1.log").read_text()
    assert (tmp_path / "out" / "report.html").exists()
    programs = sorted(path.name for path in host.home.rglob("ccgym-*"))
    assert programs == ["ccgym-receiver", "ccgym-sender", "ccgym-tunnel"]
    await_nothing_left(host)
    again = run(host, tmp_path / "out", *options)
    assert again.stderr == "2 of 2 runs stand already\n"


@needs_root
def test_a_login_that_prints_and_a_long_folder_for_temporary_files(
    host: DistantHost, open_folder: Path, tmp_path: Path
) -> None:
    here = open_folder / ("a folder with a long name " * 4).strip()
    here.mkdir()
    here.chmod(0o755)
    login = host.home / ".bashrc"  # Debian's bash reads it for every command that sshd gives it
    login.write_text("echo Welcome.; printf 'No newline at the end'\n")
    try:
        assert host.says("true") == "Welcome.\nNo newline at the end"
        options = ["--schemes", "fixed:20,kernel-reno", "--seconds", "1", "--ntp", NTP_SERVER]
        done = subprocess.run(
            evaluation(host, tmp_path / "out", *options), capture_output=True, text=True, timeout=ENDING_S,
            check=False, env={**host.environment, "TMPDIR": str(here)},
        )  # fmt: skip
    finally:
        login.unlink()
    assert done.returncode == 0, done.stderr
    await_nothing_left(host)


@needs_root
def test_schemes_of_a_checkout_that_both_machines_have(
    host: DistantHost, open_folder: Path, tmp_path: Path
) -> None:
    checkout = make_checkout(open_folder / "pantheon")  # the two share their file system
    wrappers = "pantheon:window,pantheon:upside_down"
    options = ["--schemes", wrappers, "--pantheon", str(checkout), "--seconds", "2", "--json"]
    done = run(host, tmp_path / "out", *options)
    assert done.returncode == 0, done.stderr
    for scenario in json.loads(done.stdout)["scenarios"]:
        for scheme in scenario["schemes"]:
            assert 0 < scheme["throughput_mbps"] < 1.05 * RATE_MBPS, scheme
    await_nothing_left(host)


@needs_root
def test_a_lost_connection_costs_its_run_only(host: DistantHost, tmp_path: Path) -> None:
    options = ["--schemes", "fixed:10,fixed:20", "--seconds", "2", "--direction", "down"]
    running = subprocess.Popen(
        evaluation(host, tmp_path / "out", *options), env=host.environment, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_until(lambda: any("--scheme" in each for each in host.processes_there()), "a flow", ENDING_S)
        host.cut_connections()
        _, lines = running.communicate(timeout=ENDING_S)
    finally:
        running.kill()
    first, second = lines.splitlines()
    assert first.startswith("[1/2] ")
    assert "FAILED: " in first
    assert "Mbit/s" in second, lines
    assert running.returncode == 1
    again = run(host, tmp_path / "out", *options)
    assert again.returncode == 0, again.stderr
    assert again.stderr.splitlines()[0] == "1 of 2 runs stand already"
    assert len(again.stderr.splitlines()) == 2
    wait_until(lambda: host.processes_there() == [], "the end of all programs there", ENDING_S)


@needs_root
@pytest.mark.parametrize(
    ("trouble", "wrong"),
    [
        ("stranger", "root@no-such-host cannot be reached: ssh: Could not resolve hostname"),
        (
            "port",
            f"root@{NAME} cannot be reached: ssh: connect to host 10.55.2.2 port 2223",
        ),
        ("key", f"root@{NAME}: none of your keys opens it: ssh-copy-id root@{NAME}"),
        ("unknown", f"root@{NAME}: its host key is not known yet: log in once by hand, ssh root@{NAME}"),
        ("changed", f"root@{NAME}: its host key has changed; if that is right: ssh-keygen -R {NAME}"),
        ("name", "--remote 'nobody@': expected USER@HOST or USER@HOST:PORT"),
    ],
)
def test_what_is_wrong_is_one_line(host: DistantHost, tmp_path: Path, trouble: str, wrong: str) -> None:
    remote = {"stranger": "root@no-such-host", "port": f"root@{NAME}:2223", "name": "nobody@"}
    spoilt = {"key": "key", "unknown": "known_hosts", "changed": "known_hosts"}
    file = host.folder / spoilt.get(trouble, "known_hosts")
    before = file.read_text()
    try:
        if trouble in spoilt:
            file.write_text(host.other_host_key() if trouble == "changed" else "")
        argv = ["eval", "--remote", remote.get(trouble, f"root@{NAME}"), "--schemes", "fixed:10"]
        done = subprocess.run(
            [*host.here, *CCGYM, *argv, "--out", str(tmp_path / "out")],
            capture_output=True,
            text=True,
            timeout=ENDING_S,
            check=False,
            env=host.environment,
        )
    finally:
        file.write_text(before)
    assert wrong in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.returncode == (2 if trouble == "name" else 1)
    assert not (tmp_path / "out").exists()


def records(times_ms: list[float], ahead_ms: float = 0.0) -> PacketRecords:
    count = len(times_ms)
    return PacketRecords(np.array(times_ms) + ahead_ms, np.arange(count), np.full(count, 1500))


@pytest.fixture
def apart() -> TunnelRecords:
    """A path of 20 ms each way; the receiver's clock is 1000 ms behind."""
    return TunnelRecords(
        sent=records([0, 1, 2]),
        received=records([35, 21, 40], -1000),
        replies_sent=records([50, 60], -1000),
        replies_received=records([75, 80]),
    )


def test_clocks_that_differ_are_set_right(apart: TunnelRecords) -> None:
    offset = clock_offset([apart], None)
    assert (offset.two_way_ms, offset.applied_ms) == (-1000, -1000)
    assert on_the_senders_clock(apart.received, offset).time_ms.tolist() == [35, 21, 40]


def test_the_remote_clock_is_the_senders_where_this_machine_receives(
    apart: TunnelRecords, tmp_path: Path
) -> None:
    write_clock_offset(clock_offset([apart], None), tmp_path / "clock.json")
    assert remote_offset_ms(tmp_path / "clock.json", receives_here=False) == -1000
    assert remote_offset_ms(tmp_path / "clock.json", receives_here=True) == 1000
    assert remote_offset_ms(tmp_path / "none.json", receives_here=True) is None


def test_ntp_goes_first_unless_it_makes_delays_negative(apart: TunnelRecords) -> None:
    trusted = clock_offset([apart], -1010.0)
    assert (trusted.applied_ms, trusted.note) == (-1010, "")
    refused = clock_offset([apart], -979.0)
    assert (refused.applied_ms, refused.ntp_ms) == (-1000, -979)
    assert refused.note == "the NTP offset makes delays negative"


class FakeClock:
    """An NTP client: offset and round trip of each answer in seconds; None: there is none."""

    def __init__(self, answers: list[tuple[float, float] | None]) -> None:
        self._answers = iter(answers)

    def request(self, *_: Any, **__: Any) -> SimpleNamespace:
        answer = next(self._answers, None)
        if answer is None:
            raise TimeoutError
        return SimpleNamespace(offset=answer[0], delay=answer[1])


def test_the_quickest_of_the_ntp_servers_answers_counts() -> None:
    late, quick = (0.030, 0.1), (0.001, 0.04)
    assert quickest_ntp_answer_ms(FakeClock([late, None, quick, late]), RuntimeError, "any") == 1
    assert quickest_ntp_answer_ms(FakeClock([]), RuntimeError, "any") is None


def test_direction_both_is_two_paths() -> None:
    up, down = remote_paths("me@host:2222", "both", None)
    assert (up.label, down.label) == ("path/host-up", "path/host-down")
    assert (up.spec.destination, up.spec.port) == ("me@host", 2222)
    assert remote_paths("host", "down", None)[0].spec.port is None
