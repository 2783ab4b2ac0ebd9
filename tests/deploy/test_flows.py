"""Flows of the real programs between two hosts."""

from pathlib import Path

import pytest
from ccgym.tests.deploy.endpoint_programs import TwoHosts, fly, receiver

PORT = 5000
FRAME_BYTES = 1436 + 8 + 20 + 14  # payload, UDP, IPv4, Ethernet


@pytest.mark.parametrize("scheme", ["fixed:20", "reno", "copa", "copa:0.1"])
def test_a_flow_arrives(two_hosts: TwoHosts, tmp_path: Path, scheme: str) -> None:
    with receiver(PORT, prefix=two_hosts.receiver):
        sent_before = two_hosts.sent_bytes()
        stats = fly(
            two_hosts.RECEIVER_IP, PORT, scheme, tmp_path / "s.json", prefix=two_hosts.sender, seconds=2
        )
        on_wire_packets = (two_hosts.sent_bytes() - sent_before) / FRAME_BYTES
    assert stats["scheme"] == scheme
    assert 2 <= stats["seconds"] < 2.5
    assert stats["acked_packets"] > 1000
    assert stats["received_packets"] >= stats["acked_packets"]
    assert stats["acked_packets"] + stats["lost_packets"] <= stats["sent_packets"]
    assert stats["sent_packets"] == pytest.approx(on_wire_packets, rel=0.01, abs=10)
    assert stats["throughput_mbps"] == pytest.approx(stats["acked_packets"] * 1464 * 8e-6 / stats["seconds"])
    assert 0 < stats["rtt_ms"]["p50"] <= stats["rtt_ms"]["p95"] <= stats["rtt_ms"]["p99"]
    assert 0 < stats["cpu_seconds"] < 2.5


def test_a_fixed_window_is_kept_and_nothing_is_lost(two_hosts: TwoHosts, tmp_path: Path) -> None:
    with receiver(PORT, prefix=two_hosts.receiver):
        stats = fly(two_hosts.RECEIVER_IP, PORT, "fixed:8", tmp_path / "s.json", prefix=two_hosts.sender)
    assert stats["lost_packets"] == 0
    assert stats["sent_packets"] - stats["acked_packets"] <= 8


def test_a_policy_flies_and_its_decisions_are_timed(
    two_hosts: TwoHosts, tmp_path: Path, steady_policy: Path
) -> None:
    with receiver(PORT, prefix=two_hosts.receiver):
        scheme = f"policy:{steady_policy}"
        stats = fly(
            two_hosts.RECEIVER_IP, PORT, scheme, tmp_path / "s.json", prefix=two_hosts.sender, seconds=2
        )
    assert 100 <= stats["decisions"] <= 200  # one each 10 ms, later on a busy host
    assert 0 < stats["decision_us"]["p50"] <= stats["decision_us"]["p99"] < 10_000
    assert stats["sent_packets"] - stats["acked_packets"] - stats["lost_packets"] <= 10


def test_ipv6_carries_a_flow(two_hosts: TwoHosts, tmp_path: Path) -> None:
    with receiver(PORT, prefix=two_hosts.receiver):
        stats = fly(two_hosts.RECEIVER_IP6, PORT, "fixed:8", tmp_path / "s.json", prefix=two_hosts.sender)
    assert stats["throughput_mbps"] == pytest.approx(stats["acked_packets"] * 1484 * 8e-6 / stats["seconds"])


def test_one_receiver_serves_one_flow_after_another(two_hosts: TwoHosts, tmp_path: Path) -> None:
    with receiver(PORT, prefix=two_hosts.receiver):
        for _ in range(3):
            stats = fly(
                two_hosts.RECEIVER_IP,
                PORT,
                "fixed:8",
                tmp_path / "s.json",
                prefix=two_hosts.sender,
                seconds=0.2,
            )
            assert stats["acked_packets"] > 10
            assert stats["received_packets"] - stats["acked_packets"] <= 8
