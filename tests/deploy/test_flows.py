"""Flows of the real programs between two hosts."""

import json
import subprocess
from pathlib import Path

import pytest
from ccgym.envs.host.two_hosts import TwoHosts

from .endpoint_programs import receiver, run_flow, run_sender

PORT = 5000
DATA_BYTES = 1436
HEADER_BYTES = 8 + 20 + 14  # UDP, IPv4, Ethernet; once for a whole train
MOST_PROBES = 12 + 1
"""Packets beyond the window on a busy host, as the flow ends. Each time-out of the silence in which it ends
has sent one (RFC 9002, section 6.2.4), after twice the time of the one before, from 1 ms on: twelve in 2 s.
The ACK that ended an earlier silence has sent one more (RFC 5682), and acknowledged its packets."""


@pytest.mark.parametrize("scheme", ["fixed:20", "reno", "copa", "copa:0.1"])
def test_a_flow_arrives(two_hosts: TwoHosts, tmp_path: Path, scheme: str) -> None:
    with receiver(PORT, prefix=two_hosts.receiver):
        sent_before = two_hosts.sent_bytes()
        stats = run_flow(
            two_hosts.RECEIVER_IP, PORT, scheme, tmp_path / "s.json", prefix=two_hosts.sender, seconds=2
        )
        on_wire_bytes = two_hosts.sent_bytes() - sent_before
    assert stats["scheme"] == scheme
    assert stats["seconds"] >= 2
    assert stats["acked_packets"] > 100
    assert stats["received_packets"] >= stats["acked_packets"]
    assert stats["acked_packets"] + stats["lost_packets"] <= stats["sent_packets"]
    least = stats["received_packets"] * DATA_BYTES  # a wire that nobody empties takes no more
    assert least <= on_wire_bytes <= stats["sent_packets"] * (DATA_BYTES + HEADER_BYTES) + 10_000
    assert stats["throughput_mbps"] == pytest.approx(stats["acked_packets"] * 1464 * 8e-6 / stats["seconds"])
    assert 0 < stats["rtt_ms"]["p50"] <= stats["rtt_ms"]["p95"] <= stats["rtt_ms"]["p99"]
    assert stats["cpu_seconds"] > 0


def test_a_fixed_window_is_kept_and_nothing_is_lost(two_hosts: TwoHosts, tmp_path: Path) -> None:
    with receiver(PORT, prefix=two_hosts.receiver):
        stats = run_flow(two_hosts.RECEIVER_IP, PORT, "fixed:8", tmp_path / "s.json", prefix=two_hosts.sender)
    assert stats["lost_packets"] == 0
    assert stats["sent_packets"] - stats["acked_packets"] <= 8 + MOST_PROBES


def test_a_policy_runs_and_its_decisions_are_timed(
    two_hosts: TwoHosts, tmp_path: Path, steady_policy: Path
) -> None:
    with receiver(PORT, prefix=two_hosts.receiver):
        scheme = f"policy:{steady_policy}"
        stats = run_flow(
            two_hosts.RECEIVER_IP, PORT, scheme, tmp_path / "s.json", prefix=two_hosts.sender, seconds=2
        )
    assert 10 <= stats["decisions"] <= stats["seconds"] * 100 + 1  # one each 10 ms, later on a busy host
    assert 0 < stats["decision_us"]["p50"] <= stats["decision_us"]["p99"]
    assert stats["sent_packets"] - stats["acked_packets"] - stats["lost_packets"] <= 10 + MOST_PROBES


def test_ipv6_carries_a_flow(two_hosts: TwoHosts, tmp_path: Path) -> None:
    with receiver(PORT, prefix=two_hosts.receiver):
        stats = run_flow(
            two_hosts.RECEIVER_IP6, PORT, "fixed:8", tmp_path / "s.json", prefix=two_hosts.sender
        )
    assert stats["throughput_mbps"] == pytest.approx(stats["acked_packets"] * 1484 * 8e-6 / stats["seconds"])


def test_one_receiver_serves_one_flow_after_another(two_hosts: TwoHosts, tmp_path: Path) -> None:
    with receiver(PORT, prefix=two_hosts.receiver):
        for _ in range(3):
            stats = run_flow(
                two_hosts.RECEIVER_IP,
                PORT,
                "fixed:8",
                tmp_path / "s.json",
                prefix=two_hosts.sender,
                seconds=0.2,
            )
            assert stats["acked_packets"] > 10
            assert stats["received_packets"] - stats["acked_packets"] <= 8


def test_a_path_that_segments_no_trains_gets_single_datagrams(two_hosts: TwoHosts, tmp_path: Path) -> None:
    for host in (two_hosts.sender, two_hosts.receiver):
        subprocess.run([*host, "ip", "link", "set", "wire", "mtu", "1400"], check=True, timeout=20)
    with receiver(PORT, prefix=two_hosts.receiver):
        stats = run_flow(
            two_hosts.RECEIVER_IP, PORT, "fixed:64", tmp_path / "s.json", prefix=two_hosts.sender
        )
    assert stats["acked_packets"] > 1000
    assert stats["failed_sends"] == 0


def test_a_flow_of_a_given_size_ends_by_itself(two_hosts: TwoHosts, tmp_path: Path) -> None:
    with receiver(PORT, prefix=two_hosts.receiver):
        options = ("--scheme", "reno", "--bytes", "1000000", "--stats", str(tmp_path / "s.json"))
        done = run_sender(two_hosts.RECEIVER_IP, str(PORT), *options, prefix=two_hosts.sender, timeout_s=10)
    assert (done.returncode, done.stderr) == (0, "")
    stats = json.loads((tmp_path / "s.json").read_text())
    needed_packets = -(-1_000_000 // DATA_BYTES)
    # More are acknowledged where a busy host stalls: packets that seemed lost arrive after all, and a silence
    # is answered by a packet or two that carry nothing new (RFC 9002, section 6.2.4).
    most_packets = needed_packets + stats["lost_packets"] + MOST_PROBES
    assert needed_packets <= stats["acked_packets"] <= most_packets
    (completion_ms,) = stats["completion_ms"]
    assert 0 < completion_ms <= 1000 * stats["seconds"]


def test_a_flow_answers_requests(two_hosts: TwoHosts, tmp_path: Path) -> None:
    """Answers of 7 packets, with 20 ms between them in the mean: some 100 in 2 s; a busy host has fewer."""
    with receiver(PORT, prefix=two_hosts.receiver):
        flow = ("--scheme", "reno", "--seconds", "2", "--bytes", "10000", "--think", "0.02")
        options = (*flow, "--seed", "3", "--stats", str(tmp_path / "s.json"))
        run_sender(two_hosts.RECEIVER_IP, str(PORT), *options, prefix=two_hosts.sender)
    stats = json.loads((tmp_path / "s.json").read_text())
    assert 10 < len(stats["completion_ms"]) < 150
    assert stats["acked_packets"] // 7 == len(stats["completion_ms"])
    assert min(stats["completion_ms"]) > 0


def test_a_flow_with_spells_sends_part_of_the_time(two_hosts: TwoHosts, tmp_path: Path) -> None:
    """100 spells of 5 ms on and 5 ms off a second; a busy host sends less, never more."""
    rate_mbps, seconds = 6, 2
    with receiver(PORT, prefix=two_hosts.receiver):
        flow = ("--scheme", f"rate:{rate_mbps}", "--seconds", f"{seconds}", "--on-off", "0.005,0.005")
        options = (*flow, "--seed", "3", "--stats", str(tmp_path / "s.json"))
        run_sender(two_hosts.RECEIVER_IP, str(PORT), *options, prefix=two_hosts.sender)
    always_on = 1e6 * rate_mbps * seconds / (8 * (DATA_BYTES + HEADER_BYTES))
    assert 10 < json.loads((tmp_path / "s.json").read_text())["acked_packets"] < 0.8 * always_on
