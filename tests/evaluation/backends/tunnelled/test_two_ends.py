"""What was sent beside what was received."""

import numpy as np
import pytest
from ccgym.envs.logs.flow_metrics import measure
from ccgym.envs.logs.packet_capture import PacketRecords
from ccgym.evaluation.backends.tunnelled.two_ends import matched_flow


def records(*packets: tuple[float, int]) -> PacketRecords:
    times, uids = np.array(packets).T
    return PacketRecords(times, uids.astype(np.int64), np.full(len(packets), 1500))


def test_delays_are_those_of_each_packet() -> None:
    sent = records((1000.0, 5), (1001.5, 6), (1002.0, 7))
    received = records((1030.25, 5), (1032.0, 7))
    log = matched_flow(sent, received, 900)
    assert log.arrival_ms.tolist() == [100, 101.5, 102]
    assert log.departure_ms.tolist() == [130.25, 132]
    assert log.departure_delay_ms.tolist() == [30.25, 30]


def test_reordered_packets_keep_their_own_delay() -> None:
    log = matched_flow(records((0.0, 1), (1.0, 2)), records((40.0, 2), (50.0, 1)), 0)
    assert log.departure_delay_ms.tolist() == [39, 50]


def test_duplicates_and_packets_never_sent_are_not_departures() -> None:
    log = matched_flow(records((0.0, 1), (1.0, 2)), records((40.0, 1), (41.0, 1), (42.0, 9), (43.0, 2)), 0)
    assert log.departure_ms.tolist() == [40, 43]


def test_loss_is_what_never_came() -> None:
    sent = records(*((float(index), index) for index in range(100)))
    received = records(*((50.0 + index, index) for index in range(100) if index % 10))
    # 0 of the first ten is lost as well: ten of a hundred, the last to arrive decides.
    assert measure(matched_flow(sent, received, 0), 0).loss == pytest.approx(0.1)
