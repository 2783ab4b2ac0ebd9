#include "transport/sender.hh"

#include <gtest/gtest.h>

#include <array>

#include "tests/cpp/transport/recording_controller.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using Story = std::vector<std::string>;

constexpr int64_t kBytes = 1000;

struct Flow {
  explicit Flow(int64_t cwnd_packets) : controller(cwnd_packets * kBytes), sender(controller, kBytes) {}

  int send_all(Time now) {
    int sent = 0;
    for (; sender.next_send(now) == now; ++sent) sender.on_sent(now);
    return sent;
  }

  // Fires the probe timer; returns how many packets leave.
  int probe(Time now) {
    sender.on_timer(now);
    return send_all(now);
  }

  // No ACK from 0 to 7000 ms, during which two probes leave.
  void time_out() {
    for (const int second : {1, 3, 7}) {
      sender.on_timer(milliseconds{1000 * second});
      if (second < 7) sender.on_sent(milliseconds{1000 * second});
    }
  }

  RecordingController controller;
  Sender<> sender;
};

TEST(Sender, SendsUntilTheWindowIsFull) {
  Flow flow{4};
  EXPECT_EQ(flow.send_all(milliseconds{0}), 4);
  EXPECT_FALSE(flow.sender.next_send(milliseconds{0}).has_value());
  flow.sender.on_ack(milliseconds{50}, 0, milliseconds{25});
  EXPECT_EQ(flow.sender.inflight_bytes(), 3 * kBytes);
  EXPECT_EQ(flow.send_all(milliseconds{50}), 1);
}

TEST(Sender, AWindowBelowOnePacketStillSendsOne) {
  Flow flow{0};
  EXPECT_EQ(flow.send_all(milliseconds{0}), 1);
}

TEST(Sender, TellsTheControllerWhatAnAckMeans) {
  Flow flow{3};
  flow.send_all(milliseconds{0});
  flow.sender.on_ack(milliseconds{60}, 0, milliseconds{30});
  const AckEvent& ack = flow.controller.acks.at(0);
  EXPECT_EQ(ack.rtt.latest, Time{milliseconds{60}});
  EXPECT_EQ(ack.inflight_bytes, 2 * kBytes);
  EXPECT_EQ(ack.delivered_bytes, kBytes);
  EXPECT_EQ(ack.next_seq, 3U);
  EXPECT_EQ(ack.limited_by, Limit::window);
  EXPECT_EQ(flow.controller.newest.at(0).received_at, Time{milliseconds{30}});
  EXPECT_EQ(flow.controller.newest.at(0).inflight_bytes_at_departure, kBytes);
}

// The receiver counts modulo 2^16, so that the marks of a lost ACK are reported by the next one.
TEST(Sender, TellsOfEachMarkOnceWhateverBecomesOfAcks) {
  Flow flow{6};
  flow.send_all(milliseconds{0});
  const std::array<std::pair<uint64_t, uint16_t>, 4> acks{{{0, 0}, {2, 2}, {1, 1}, {3, 2}}};  // 1 comes late
  for (const auto& [seq, count] : acks) flow.sender.on_ack(milliseconds{50}, seq, milliseconds{25}, count);
  std::vector<int64_t> told;
  for (const AckEvent& ack : flow.controller.acks) told.push_back(ack.ce_packets);
  EXPECT_EQ(told, (std::vector<int64_t>{0, 2, 0, 0}));
  EXPECT_EQ(flow.sender.ce_packets(), 2);
}

TEST(Sender, CountsMarksBeyondWhatAnAckHolds) {
  Flow flow{1};
  int64_t told = 0;
  for (uint64_t seq = 0; seq < 70; ++seq) {
    flow.send_all(milliseconds{seq});
    flow.sender.on_ack(milliseconds{seq + 1}, seq, milliseconds{1}, static_cast<uint16_t>(1000 * (seq + 1)));
  }
  for (const AckEvent& ack : flow.controller.acks) told += ack.ce_packets;
  EXPECT_EQ(told, 70'000);
}

TEST(Sender, APacketThreeBehindIsLostAndTheLossIsReportedWithTheAck) {
  Flow flow{5};
  flow.send_all(milliseconds{0});
  flow.controller.story.clear();
  for (const uint64_t seq : {1U, 2U, 3U}) flow.sender.on_ack(milliseconds{50}, seq, milliseconds{25});
  EXPECT_EQ(flow.controller.story, (Story{"ack 1", "ack 2", "ack 3, loss 0"}));
  EXPECT_EQ(flow.sender.lost_packets(), 1);
  EXPECT_EQ(flow.sender.inflight_bytes(), kBytes);  // only 4
}

TEST(Sender, APacketNineEighthsOfARoundTripBehindIsLostByTime) {
  Flow flow{2};
  flow.send_all(milliseconds{0});
  flow.sender.on_ack(milliseconds{80}, 1, milliseconds{40});
  ASSERT_EQ(flow.sender.next_timer(), Time{milliseconds{90}});  // 9/8 * 80 ms after packet 0 left
  flow.sender.on_timer(milliseconds{90});
  EXPECT_EQ(flow.controller.story.back(), "loss 0");
}

TEST(Sender, ALateAckOfALostPacketCountsAsDelivered) {
  Flow flow{5};
  flow.send_all(milliseconds{0});
  for (const uint64_t seq : {1U, 2U, 3U, 0U}) flow.sender.on_ack(milliseconds{50}, seq, milliseconds{25});
  EXPECT_EQ(flow.sender.lost_packets(), 0);
  EXPECT_EQ(flow.sender.delivered_packets(), 4);
  EXPECT_EQ(flow.sender.inflight_bytes(), kBytes);
}

// RFC 9002, section 6.1.1: packet 0 came four packets late, so the next is waited for as long.
TEST(Sender, WaitsForAsManyPacketsAsOneWasLate) {
  Flow flow{20};
  flow.send_all(milliseconds{0});
  for (const uint64_t seq : {1U, 2U, 3U, 4U, 0U}) flow.sender.on_ack(milliseconds{50}, seq, milliseconds{25});
  for (const uint64_t seq : {6U, 7U, 8U, 9U}) flow.sender.on_ack(milliseconds{50}, seq, milliseconds{25});
  EXPECT_EQ(flow.sender.lost_packets(), 0);
  flow.sender.on_ack(milliseconds{50}, 10, milliseconds{25});
  EXPECT_EQ(flow.controller.story.back(), "ack 10, loss 5");
}

// Section 6.1.2: of an RTT of 80 ms, packet 0 took 104 ms, 10.4 eighths, so the next is waited for for 11.
TEST(Sender, WaitsAsLongAsAPacketWasLate) {
  Flow flow{3};
  flow.send_all(milliseconds{0});
  flow.sender.on_ack(milliseconds{80}, 1, milliseconds{40});
  flow.sender.on_timer(milliseconds{90});
  ASSERT_EQ(flow.controller.story.back(), "loss 0");
  flow.sender.on_ack(milliseconds{104}, 0, milliseconds{64});
  flow.sender.on_ack(milliseconds{104}, 2, milliseconds{64});
  flow.send_all(milliseconds{104});
  flow.sender.on_ack(milliseconds{184}, 4, milliseconds{144});
  const Time patience = flow.sender.rtt().smoothed * 11 / 8;
  EXPECT_EQ(flow.sender.next_timer(), milliseconds{104} + patience);
}

TEST(Sender, DuplicateAndUnknownAcksAreIgnored) {
  Flow flow{2};
  flow.send_all(milliseconds{0});
  flow.sender.on_ack(milliseconds{10}, 0, milliseconds{5});
  flow.sender.on_ack(milliseconds{11}, 0, milliseconds{5});
  flow.sender.on_ack(milliseconds{12}, 77, milliseconds{5});
  flow.sender.on_ack(milliseconds{13}, UINT64_MAX, milliseconds{5});
  EXPECT_EQ(flow.controller.acks.size(), 1U);
  EXPECT_EQ(flow.sender.inflight_bytes(), kBytes);
}

// RFC 9002, section 6.2: without an RTT one second, then two, then four.
TEST(Sender, SilenceIsAnsweredByTwoProbesAndThenByATimeout) {
  Flow flow{4};
  flow.send_all(milliseconds{0});
  flow.controller.story.clear();
  for (const int second : {1, 3}) {
    ASSERT_EQ(flow.sender.next_timer(), Time{milliseconds{1000 * second}});
    EXPECT_EQ(flow.probe(milliseconds{1000 * second}), 1);  // though the window is closed
  }
  EXPECT_EQ(flow.controller.story, (Story{"sent 4", "sent 5"}));
  ASSERT_EQ(flow.sender.next_timer(), Time{milliseconds{7000}});
  flow.sender.on_timer(milliseconds{7000});
  EXPECT_EQ(flow.controller.story.back(), "timeout 0 1 2 3 4 5");
  EXPECT_EQ(flow.sender.inflight_bytes(), 0);
  EXPECT_EQ(flow.send_all(milliseconds{7000}), 1);
  EXPECT_EQ(flow.sender.next_timer(), Time{milliseconds{15'000}});
}

// A lost tail is an ordinary loss, because the probe's ACK reveals it.
TEST(Sender, AProbeFindsALostTail) {
  Flow flow{4};
  flow.send_all(milliseconds{0});
  for (const uint64_t seq : {0U, 1U}) flow.sender.on_ack(milliseconds{50}, seq, {});
  ASSERT_EQ(flow.sender.next_timer(), Time{milliseconds{50 + 50 + 75}});  // RTTVAR 25, then 18.75
  flow.sender.on_timer(milliseconds{175});
  EXPECT_TRUE(flow.sender.owes_probe());
  flow.sender.on_sent(milliseconds{175});
  EXPECT_FALSE(flow.sender.owes_probe());
  flow.controller.story.clear();
  flow.sender.on_ack(milliseconds{225}, 4, {});
  EXPECT_EQ(flow.controller.story, (Story{"ack 4, loss 2 3"}));
}

// The first packets of a burst waited for seconds, the rest met a full queue: nothing is behind an arrived
// one, and the time-out is measured by an ACK that was late.
TEST(Sender, TheAckThatEndsASilenceIsAnsweredByAPacketThoughTheWindowIsClosed) {
  Flow flow{4};
  flow.send_all(milliseconds{0});
  flow.probe(milliseconds{1000});
  flow.sender.on_ack(milliseconds{4100}, 0, {});
  EXPECT_EQ(flow.send_all(milliseconds{4100}), 1);
  flow.controller.story.clear();
  flow.sender.on_ack(milliseconds{4150}, 5, {});
  EXPECT_EQ(flow.controller.story, (Story{"ack 5, loss 1 2 3"}));
}

TEST(Sender, TwoAcksAtOnceThatEndASilenceAreAnsweredByOnePacket) {
  Flow flow{4};
  flow.send_all(milliseconds{0});
  flow.probe(milliseconds{1000});
  flow.probe(milliseconds{3000});
  for (const uint64_t seq : {0U, 1U}) flow.sender.on_ack(milliseconds{4100}, seq, {});
  EXPECT_EQ(flow.send_all(milliseconds{4100}), 1);  // inflight 4, and now 5
}

TEST(Sender, AnAckOfTheLastPacketEndsASilenceWithoutAnAnswer) {
  Flow flow{1};
  flow.send_all(milliseconds{0});
  flow.probe(milliseconds{1000});
  flow.sender.on_ack(milliseconds{1050}, 1, {});
  EXPECT_FALSE(flow.sender.owes_probe());
}

TEST(Sender, AnAckOfAProbeConfirmsTheLossAndOpensTheWindow) {
  Flow flow{4};
  flow.send_all(milliseconds{0});
  flow.time_out();
  flow.send_all(milliseconds{7000});
  flow.sender.on_ack(milliseconds{7050}, 6, milliseconds{7025});
  EXPECT_EQ(flow.sender.lost_packets(), 6);
  EXPECT_EQ(flow.send_all(milliseconds{7050}), 4);
}

TEST(Sender, AnAckOfAGivenUpPacketShowsThatTheTimeoutWasSpurious) {
  Flow flow{4};
  flow.send_all(milliseconds{0});
  flow.time_out();
  flow.send_all(milliseconds{7000});
  flow.sender.on_ack(milliseconds{7200}, 0, milliseconds{600});
  EXPECT_EQ(flow.sender.lost_packets(), 0);
  EXPECT_EQ(flow.sender.inflight_bytes(), 6 * kBytes);  // 1, 2, 3 and three probes
}

// RFC 5682, section 3.1: after the time-out one packet leaves (step 1); an ACK of what was sent before shows
// that the time-out was spurious (step 3 B), once.
TEST(Sender, TellsTheControllerOfASpuriousTimeoutBeforeTheAck) {
  Flow flow{3};
  flow.send_all(milliseconds{0});
  flow.time_out();
  flow.controller.story.clear();
  flow.sender.on_ack(milliseconds{7200}, 0, milliseconds{600});
  flow.sender.on_ack(milliseconds{7201}, 1, milliseconds{601});
  EXPECT_EQ(flow.controller.story, (Story{"spurious timeout 0", "ack 0", "ack 1"}));
}

// Step 3 A: only what was sent after the time-out arrives; what comes later does not make it spurious.
TEST(Sender, ATimeoutIsGenuineWhenNothingSentBeforeItArrives) {
  Flow flow{3};
  flow.send_all(milliseconds{0});
  flow.time_out();
  flow.send_all(milliseconds{7000});
  flow.controller.story.clear();
  flow.sender.on_ack(milliseconds{7200}, 5, milliseconds{7100});
  flow.sender.on_ack(milliseconds{7300}, 0, milliseconds{600});
  EXPECT_EQ(flow.controller.story, (Story{"ack 5", "late 0", "ack 0"}));
}

// The second time-out gives up the packet sent after the first one; its arrival does not show that the first
// was spurious.
TEST(Sender, ALateProbeDoesNotMakeTheFirstTimeoutSpurious) {
  Flow flow{3};
  flow.send_all(milliseconds{0});
  flow.time_out();
  flow.send_all(milliseconds{7000});
  flow.sender.on_timer(milliseconds{15'000});
  flow.send_all(milliseconds{15'000});
  flow.controller.story.clear();
  flow.sender.on_ack(milliseconds{15'100}, 5, milliseconds{14'900});
  EXPECT_EQ(flow.controller.story, (Story{"late 5", "ack 5"}));
}

TEST(Sender, AWindowThatArrivesAfterTwoTimeoutsWasOnlyLate) {
  Flow flow{3};
  flow.send_all(milliseconds{0});
  flow.time_out();
  flow.send_all(milliseconds{7000});
  flow.sender.on_timer(milliseconds{15'000});
  flow.controller.story.clear();
  flow.sender.on_ack(milliseconds{15'100}, 0, milliseconds{14'900});
  EXPECT_EQ(flow.controller.story, (Story{"spurious timeout 0", "ack 0"}));
  EXPECT_EQ(flow.sender.lost_packets(), 0);
}

// ACK 1, then ACK 0, whose counter is older.
TEST(Sender, ATimeoutIsSpuriousOnce) {
  Flow flow{3};
  flow.send_all(milliseconds{0});
  flow.time_out();
  flow.controller.story.clear();
  flow.sender.on_ack(milliseconds{7200}, 1, milliseconds{600});
  flow.sender.on_ack(milliseconds{7201}, 0, milliseconds{601});
  EXPECT_EQ(flow.controller.story, (Story{"spurious timeout 1", "ack 1", "late 0", "ack 0"}));
  EXPECT_EQ(flow.sender.lost_packets(), 0);
}

TEST(Sender, OneAckOfManyPacketsIsOneEvent) {
  Flow flow{6};
  flow.send_all(milliseconds{0});
  flow.controller.story.clear();
  const std::array arrivals{Arrival{1}, Arrival{2}, Arrival{2}, Arrival{5, milliseconds{20}}};
  flow.sender.on_ack(milliseconds{50}, arrivals);
  EXPECT_EQ(flow.controller.story, (Story{"ack 1 2 5, loss 0"}));
  const AckEvent& ack = flow.controller.acks.at(0);
  EXPECT_EQ(ack.delivered_bytes, 3 * kBytes);
  EXPECT_EQ(ack.rate.delivered_bytes, 3 * kBytes);
  EXPECT_EQ(ack.inflight_bytes, 2 * kBytes);
  EXPECT_EQ(ack.declared_lost_bytes, kBytes);
  EXPECT_EQ(ack.rtt.latest, Time{milliseconds{50}});
  EXPECT_EQ(flow.controller.newest.at(0).arrived_at(milliseconds{50}), Time{milliseconds{20}});
}

TEST(Sender, LossesThatTimeRevealsAreAnAckOfNothing) {
  Flow flow{2};
  flow.send_all(milliseconds{0});
  flow.sender.on_ack(milliseconds{80}, 1, milliseconds{40});
  flow.controller.story.clear();
  flow.sender.on_timer(milliseconds{90});
  EXPECT_EQ(flow.controller.story, (Story{"loss 0"}));
}

TEST(Sender, SaysWhatLimitsIt) {
  Flow flow{3};
  flow.send_all(milliseconds{0});
  flow.sender.on_ack(milliseconds{50}, 0, {});
  EXPECT_EQ(flow.controller.acks.back().limited_by, Limit::window);
  flow.sender.on_app_limited();
  flow.sender.on_ack(milliseconds{51}, 1, {});
  EXPECT_EQ(flow.controller.acks.back().limited_by, Limit::application);
  flow.controller.pacing_rate = Rate::from_mbps(0.8);
  flow.sender.refresh_limits(milliseconds{51});
  flow.sender.on_sent(milliseconds{51});
  flow.sender.on_ack(milliseconds{52}, 2, {});
  EXPECT_EQ(flow.controller.acks.back().limited_by, Limit::pacing);
}

TEST(Sender, TellsOfARestartAfterAnIdleTime) {
  Flow flow{2};
  flow.send_all(milliseconds{0});
  flow.sender.on_ack(milliseconds{50}, 0, {});
  flow.sender.on_ack(milliseconds{60}, 1, {});
  flow.sender.on_app_limited();
  flow.controller.story.clear();
  flow.sender.on_sent(milliseconds{160});
  EXPECT_EQ(flow.controller.story, (Story{"restart 100000000", "sent 2"}));
}

// After a second without data the application has unlimited data: returns how many packets leave within the
// given time.
int sent_after_idleness(Flow& flow, Time within) {
  flow.send_all(milliseconds{0});
  for (uint64_t seq = 0; seq < 100; ++seq) flow.sender.on_ack(milliseconds{100}, seq, {});
  flow.sender.on_app_limited();
  int sent = 0;
  const Time until = milliseconds{1100} + within;
  for (Time now = milliseconds{1100}; now < until; ++sent) {
    flow.sender.on_sent(now);
    now = flow.sender.next_send(now).value_or(until);
  }
  return sent;
}

// 100 packets in a round trip of 100 ms are one a millisecond.
TEST(Sender, AWindowLeavesInARoundTripAfterAnIdleTimeButForTenPackets) {
  Flow flow{100};
  EXPECT_NEAR(sent_after_idleness(flow, milliseconds{10}), 10 + 10, 1);
  Flow another{100};
  EXPECT_NEAR(sent_after_idleness(another, milliseconds{50}), 10 + 50, 2);
  Flow third{100};
  EXPECT_EQ(sent_after_idleness(third, milliseconds{100}), 100);
}

TEST(Sender, ASchemeThatPacesItselfDoesSoAfterAnIdleTimeToo) {
  Flow flow{100};
  flow.controller.pacing_rate = Rate::from_mbps(80);  // 10 packets a millisecond
  EXPECT_EQ(sent_after_idleness(flow, milliseconds{50}), 100);
}

// Of a window of 20 that is acknowledged at once, where the pace is 10 packets a millisecond.
int sent_with_acks(bool ack_clocked) {
  Flow flow{20};
  flow.controller.pacing_rate = Rate::from_mbps(80);
  flow.controller.ack_clocked = ack_clocked;
  for (Time now{}; flow.sender.next_send(now); now = flow.sender.next_send(now).value_or(now))
    flow.sender.on_sent(now);
  for (uint64_t seq = 0; seq < 20; ++seq) flow.sender.on_ack(milliseconds{100}, seq, {});
  return flow.send_all(milliseconds{100});
}

TEST(Sender, WhatAcksLetGoLeavesWithThemUpToAMillisecondOfThePaceIfTheControllerSaysSo) {
  EXPECT_EQ(sent_with_acks(false), 1);
  EXPECT_EQ(sent_with_acks(true), 11);  // a millisecond, and the one that is due
}

// MarkConnectionAppLimited of draft-ietf-ccwg-bbr-06, section 5.3.4.3: samples until what is in flight now
// has arrived are app-limited.
TEST(Sender, MarksSamplesWhileTheControllerHoldsBack) {
  Flow flow{2};
  flow.controller.holds_back = true;
  flow.send_all(milliseconds{0});
  flow.sender.on_ack(milliseconds{50}, 0, {});
  EXPECT_FALSE(flow.controller.acks.back().rate.app_limited);
  flow.controller.holds_back = false;
  flow.send_all(milliseconds{50});
  for (const uint64_t seq : {1U, 2U}) flow.sender.on_ack(milliseconds{100}, seq, {});
  EXPECT_TRUE(flow.controller.acks.back().rate.app_limited);
}

TEST(Sender, TheControllersTimerFiresOnce) {
  Flow flow{1};
  flow.controller.timer = milliseconds{7};
  flow.send_all(milliseconds{0});
  ASSERT_EQ(flow.sender.next_timer(), Time{milliseconds{7}});
  flow.sender.on_timer(milliseconds{8});
  EXPECT_EQ(flow.controller.story.back(), "timer");
  EXPECT_EQ(flow.sender.next_timer(), Time{milliseconds{1000}});
}

TEST(Sender, ATimerTellsWhatIsInFlightAndTheRoundTripsOfTheLastAck) {
  Flow flow{3};
  flow.controller.timer = milliseconds{50};
  flow.send_all(milliseconds{0});
  flow.sender.on_ack(milliseconds{40}, 0, milliseconds{20});
  flow.sender.on_timer(milliseconds{50});
  ASSERT_EQ(flow.controller.timers.size(), 1U);
  EXPECT_EQ(flow.controller.timers[0].inflight_bytes, 2 * kBytes);
  EXPECT_EQ(flow.controller.timers[0].rtt.latest, Time{milliseconds{40}});
}

TEST(Sender, PacesWhenTheControllerAsksForIt) {
  Flow flow{100};
  flow.controller.pacing_rate = Rate::from_mbps(8);  // 1000 bytes a millisecond
  flow.sender.on_sent(milliseconds{100});            // reads the limits
  flow.sender.on_sent(milliseconds{100});
  EXPECT_EQ(flow.sender.next_send(milliseconds{100}), Time{milliseconds{100}});
  flow.sender.on_sent(milliseconds{100});
  EXPECT_EQ(flow.sender.next_send(milliseconds{100}), Time{milliseconds{101}});
}

TEST(Sender, RemembersEveryPacketOfALargeWindow) {
  Flow flow{5000};
  EXPECT_EQ(flow.send_all(milliseconds{0}), 5000);
  for (uint64_t seq = 0; seq < 5000; ++seq) flow.sender.on_ack(milliseconds{40}, seq, milliseconds{20});
  EXPECT_EQ(flow.sender.delivered_packets(), 5000);
  EXPECT_EQ(flow.sender.inflight_bytes(), 0);
  EXPECT_EQ(flow.sender.lost_packets(), 0);
}

}  // namespace
}  // namespace ccgym
