#include "agents/controllers/verus/verus.hh"

#include <gtest/gtest.h>

#include <array>

#include "tests/cpp/agents/controllers/changing_path.hh"
#include "tests/cpp/agents/controllers/scenario.hh"
#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kPacketBytes = 1000;

TEST(DelayProfile, GoesThroughItsPoints) {
  DelayProfile profile;
  for (const double window : {1.0, 5.0, 10.0, 20.0}) profile.add(window, 40 + window);
  EXPECT_TRUE(profile.empty());
  profile.interpolate();
  for (const double window : {1.0, 5.0, 7.0, 10.0, 20.0})
    EXPECT_NEAR(profile.delay_ms(window), 40 + window, 1e-9);
}

TEST(DelayProfile, IsInvertedBetweenAndBeyondItsPoints) {
  DelayProfile profile;
  for (const double window : {1.0, 5.0, 10.0, 20.0}) profile.add(window, 40 + window);
  profile.interpolate();
  EXPECT_NEAR(profile.window_packets(52.5), 12.5, 1e-9);
  EXPECT_NEAR(profile.window_packets(65), 25, 1e-9);
  EXPECT_EQ(profile.window_packets(10), 1);
}

TEST(DelayProfile, AveragesThePointOfAWindowOverTime) {
  DelayProfile profile;
  profile.add(1, 40);
  profile.add(1, 50);
  profile.interpolate();
  EXPECT_NEAR(profile.delay_ms(1), 41.25, 1e-9);  // 40 + 0.125 (50 - 40)
}

TEST(DelayProfile, RisesEvenWhereItsPointsDoNot) {
  DelayProfile profile;
  const std::array delays{40.0, 90.0, 44.0, 48.0, 60.0, 55.0, 70.0};
  for (std::size_t i = 0; i < delays.size(); ++i) profile.add(static_cast<double>(i + 1), delays.at(i));
  profile.interpolate();
  EXPECT_NEAR(profile.delay_ms(1), 40, 1e-9);
  for (const double window : {2.0, 4.0, 6.0})
    EXPECT_NEAR(profile.delay_ms(window), (90 + 44 + 48 + 60 + 55) / 5.0, 1e-9);
  EXPECT_NEAR(profile.delay_ms(7), 70, 1e-9);
}

// Eq. 4 with R = 2, delta_1 = 1 ms, delta_2 = 2 ms.
TEST(Verus, AimsAtLessDelayWhenItRisesAndAtMoreOtherwise) {
  const Verus verus{kPacketBytes, {.delay_ratio = 2}};
  EXPECT_EQ(verus.next_delay_ms(70, 81, -1, 40), 68);  // D_max / D_min > 2
  EXPECT_EQ(verus.next_delay_ms(70, 75, 0.5, 40), 69);
  EXPECT_EQ(verus.next_delay_ms(70, 75, -0.5, 40), 72);
  EXPECT_EQ(verus.next_delay_ms(40.5, 75, 0.5, 40), 40);
}

// Eq. 5 with an RTT of 5 epochs: S = W' + (2 - 5) / (5 - 1) W = W' - 0.75 W.
TEST(Verus, SendsWhatMovesTheWindow) {
  EXPECT_EQ(Verus::packets_to_send(40, 40, 5), 10);
  EXPECT_EQ(Verus::packets_to_send(40, 50, 5), 20);
  EXPECT_EQ(Verus::packets_to_send(40, 20, 5), 0);
}

class VerusTest : public testing::Test {
 protected:
  void send(uint64_t seq) { verus_.on_sent(now_, {.seq = seq, .bytes = kPacketBytes}); }
  void ack(uint64_t seq, milliseconds rtt) {
    report_ack(verus_, now_,
               {.seq = seq,
                .bytes = kPacketBytes,
                .rtt = {.latest = rtt, .smoothed = rtt, .min = milliseconds{40}}});
  }
  void lose(uint64_t seq, bool timeout = false) {
    const std::array lost{LostPacket{.seq = seq, .bytes = kPacketBytes}};
    report_losses(verus_, now_, {.packets = lost, .timeout = timeout});
  }
  [[nodiscard]] int64_t cwnd_packets() const { return verus_.limits().cwnd_bytes / kPacketBytes; }

  Verus verus_{kPacketBytes, {}};
  Time now_{};
};

TEST_F(VerusTest, OpensByAPacketPerAckInSlowStart) {
  for (uint64_t seq = 0; seq < 10; ++seq) send(seq);
  for (uint64_t seq = 0; seq < 10; ++seq) ack(seq, milliseconds{40});
  EXPECT_EQ(cwnd_packets(), 20);
}

// Eq. 6 with M = 0.7 of the window under which the lost packet left, then 1/W per ACK.
TEST_F(VerusTest, DecreasesTheWindowUnderWhichTheLostPacketLeft) {
  for (uint64_t seq = 0; seq < 10; ++seq) send(seq);
  for (uint64_t seq = 0; seq < 10; ++seq) ack(seq, milliseconds{40});
  for (uint64_t seq = 10; seq < 30; ++seq) send(seq);  // under 20
  for (uint64_t seq = 10; seq < 20; ++seq) ack(seq, milliseconds{40});
  lose(20);
  EXPECT_EQ(cwnd_packets(), 14);
  lose(21);  // of the same round trip
  EXPECT_EQ(cwnd_packets(), 14);
  for (uint64_t seq = 22; seq < 30; ++seq) ack(seq, milliseconds{40});
  EXPECT_EQ(cwnd_packets(), 14);  // 14 + 8/14
}

// A delay beyond 15 * 40 ms ends slow start as a loss would: 0.7 of the 20 packets that led to it.
TEST_F(VerusTest, LeavesSlowStartWithLessThanWhatLedToTheDelay) {
  for (uint64_t seq = 0; seq < 10; ++seq) send(seq);
  for (uint64_t seq = 0; seq < 10; ++seq) ack(seq, milliseconds{40});
  send(10);  // under 20
  ack(10, milliseconds{600});
  EXPECT_EQ(cwnd_packets(), 21);
  send(11);  // under 21
  ack(11, milliseconds{601});
  verus_.on_timer(milliseconds{5}, {});
  EXPECT_LE(cwnd_packets(), 14);
}

TEST_F(VerusTest, BeginsAnewAfterATimeout) {
  for (uint64_t seq = 0; seq < 10; ++seq) send(seq);
  ack(0, milliseconds{40});
  lose(1, /*timeout=*/true);
  EXPECT_EQ(cwnd_packets(), 1);
}

TEST_F(VerusTest, EndsAnEpochEveryFiveMilliseconds) {
  EXPECT_FALSE(verus_.next_timer());
  send(0);
  now_ = milliseconds{40};
  ack(0, milliseconds{40});
  EXPECT_EQ(verus_.next_timer(), Time{milliseconds{45}});
  verus_.on_timer(milliseconds{45}, {});
  EXPECT_EQ(verus_.next_timer(), Time{milliseconds{50}});
}

// Eq. 5: with two epochs per RTT the whole window in the first one; with many, nearly nothing.
TEST_F(VerusTest, SpreadsTheWindowOverTheRoundTripThatItsTimerIsTold) {
  for (uint64_t seq = 0; seq < 10; ++seq) send(seq);
  for (uint64_t seq = 0; seq < 10; ++seq) ack(seq, milliseconds{40});
  send(10);
  ack(10, milliseconds{601});
  Verus spread{verus_};
  verus_.on_timer(milliseconds{5}, {.rtt = {.smoothed = milliseconds{10}}});
  spread.on_timer(milliseconds{5}, {.rtt = {.smoothed = milliseconds{600}}});
  EXPECT_GE(cwnd_packets(), 12);
  EXPECT_LE(spread.limits().cwnd_bytes, 2 * kPacketBytes);
}

// The budget of an epoch is added to the inflight, however that has changed since the last ACK.
TEST_F(VerusTest, AnEpochAddsToWhatItsTimerSaysIsInFlight) {
  for (uint64_t seq = 0; seq < 10; ++seq) send(seq);
  for (uint64_t seq = 0; seq < 10; ++seq) ack(seq, milliseconds{40});
  send(10);
  ack(10, milliseconds{601});
  Verus fuller{verus_};
  const RttStats long_rtt{.smoothed = milliseconds{600}};
  verus_.on_timer(milliseconds{5}, {.inflight_bytes = 0, .rtt = long_rtt});
  fuller.on_timer(milliseconds{5}, {.inflight_bytes = 5 * kPacketBytes, .rtt = long_rtt});
  EXPECT_EQ(cwnd_packets(), 1);  // no epoch of so many sends a whole packet, but one may always be in flight
  EXPECT_EQ(fuller.limits().cwnd_bytes, 5 * kPacketBytes);
}

// Section 6: R trades delay for throughput.
TEST(VerusRun, HasMoreDelayWithALargerRatio) {
  const Scenario bottomless{.seconds = 30, .start_up_seconds = 10};
  EXPECT_LT(run_scenario("verus:2", bottomless).p95_delay_ms,
            run_scenario("verus:6", bottomless).p95_delay_ms);
}

TEST(VerusRun, UsesMostOfTheLinkWithABoundedLoss) {
  const Measured measured = run_scenario("verus", {.queue_packets = 60});
  EXPECT_GT(measured.mbps, 0.8 * 12);
  EXPECT_LT(measured.lost_share, 0.1);
}

TEST(VerusRun, DoesNotFillABottomlessQueue) {
  const Measured measured = run_scenario("verus", {.seconds = 30, .start_up_seconds = 10});
  EXPECT_GT(measured.mbps, 0.9 * 12);
  EXPECT_LT(measured.p95_delay_ms, 6 * 62);
}

// One packet every 59 ms for half a minute: only one epoch in twelve has an ACK.
TEST(VerusRun, ComesBackAfterItsAcksCameInClumps) {
  FlowOnChangingPath flow{"verus", {.rate_mbps = [](double s) { return s > 10 && s < 40 ? 0.2 : 8.0; }}};
  flow.run_until(60);
  EXPECT_GT(flow.mbps_until(90), 0.8 * 8);
}

TEST(VerusRun, ComesBackOnAPathThatIsTenTimesAsLong) {
  FlowOnChangingPath flow{"verus",
                          {.delay_ms = [](double s) { return s < 20 ? 5.0 : 50.0; }, .queue_packets = 120}};
  flow.run_until(40);
  EXPECT_GT(flow.mbps_until(60), 0.8 * 8);
}

TEST(VerusRun, AimsAtNoMoreDelayForAnApplicationThatHeldBack) {
  FlowOnChangingPath flow{
      "verus", {.offers = [](double s, int64_t inflight) { return s < 20 || s > 80 || inflight < 2; }}};
  flow.run_until(80);
  const int64_t lost_before = flow.sender().lost_packets();
  EXPECT_GT(flow.mbps_until(90), 0.8 * 8);
  EXPECT_LT(flow.sender().lost_packets() - lost_before, 10 * 683 / 4);
}

}  // namespace
}  // namespace ccgym
