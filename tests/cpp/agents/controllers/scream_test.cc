#include "agents/controllers/scream/scream.hh"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/cpp/agents/controllers/scenario.hh"
#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kPacketBytes = 1000;

class ScreamTest : public testing::Test {
 protected:
  // An ACK of a packet that was delayed by so much, while the window is full.
  void ack(milliseconds delay, int64_t inflight_bytes = 1'000'000) {
    now_ += milliseconds{1};
    report_ack(scream_, now_,
               {.bytes = kPacketBytes,
                .sent_at = now_ - 2 * delay,
                .received_at = now_ - delay,
                .inflight_bytes = inflight_bytes,
                .rtt = {.smoothed = milliseconds{100}}});
  }
  void lose(Time sent_at) {
    const std::array lost{LostPacket{.seq = 0, .bytes = kPacketBytes, .sent_at = sent_at}};
    report_losses(scream_, now_, {.packets = lost});
  }
  void leave_fast_increase() {
    ack(milliseconds{50});
    lose(now_);
    ack(milliseconds{50});  // of what was lost
    ASSERT_FALSE(scream_.in_fast_increase());
  }

  Scream scream_{kPacketBytes};
  Time now_{seconds{1}};
};

// From MIN_CWND = 3000 bytes.
TEST_F(ScreamTest, GrowsByWhatIsAcknowledgedInFastIncrease) {
  for (int i = 0; i < 5; ++i) ack(milliseconds{50});
  EXPECT_EQ(scream_.cwnd_bytes(), 8'000);
}

TEST_F(ScreamTest, DoesNotGrowAWindowThatIsNotUsed) {
  for (int i = 0; i < 5; ++i) ack(milliseconds{50});
  ack(milliseconds{50}, 1000);  // 1.5 * 2000 + 1000 < 8000
  EXPECT_EQ(scream_.cwnd_bytes(), 8'000);
}

// BETA_LOSS = 0.8, once per round trip.
TEST_F(ScreamTest, FallsByAFifthForTheLossesOfARoundTrip) {
  for (int i = 0; i < 8; ++i) ack(milliseconds{50});
  const Time sent_at = now_;
  lose(sent_at);
  EXPECT_NEAR(scream_.cwnd_bytes(), 0.8 * 11'000, 1e-6);
  now_ += milliseconds{10};
  lose(sent_at - milliseconds{1});
  EXPECT_NEAR(scream_.cwnd_bytes(), 0.8 * 11'000, 1e-6);
}

TEST_F(ScreamTest, NeverFallsBelowThreeThousandBytes) {
  for (int i = 0; i < 3; ++i) {
    lose(now_);
    now_ += milliseconds{10};
  }
  EXPECT_EQ(scream_.cwnd_bytes(), 3'000);
}

// bytes_newly_acked includes lost packets: one packet acknowledged and one lost change the window by
// off_target * 2 * 1000 * MSS / cwnd, with off_target = 1 in an empty queue.
TEST_F(ScreamTest, CountsWhatWasLostAsAcknowledged) {
  for (int i = 0; i < 8; ++i) ack(milliseconds{50});
  lose(now_);
  const double before = scream_.cwnd_bytes();
  ack(milliseconds{50});
  EXPECT_NEAR(scream_.cwnd_bytes(), before + 2 * 1e6 / before, 1e-6);
}

// cwnd += off_target * acked * MSS / cwnd: at 50 ms of queue off_target = 1/2, at 150 ms -1/2.
TEST_F(ScreamTest, MovesInProportionToTheDistanceFromTheDelayTarget) {
  leave_fast_increase();
  double before = scream_.cwnd_bytes();
  ack(milliseconds{100});
  EXPECT_NEAR(scream_.cwnd_bytes(), before + 0.5 * 1e6 / before, 1e-6);
  before = scream_.cwnd_bytes();
  ack(milliseconds{200});
  EXPECT_NEAR(scream_.cwnd_bytes(), before - 0.5 * 1e6 / before, 1e-6);
}

// A queue that grows for a second: the samples of qdelay_fraction correlate, and their average exceeds 0.2.
TEST_F(ScreamTest, LeavesFastIncreaseWhenTheQueueingDelayTrendsUpwards) {
  ack(milliseconds{50});
  for (int i = 0; i < 1000 && scream_.in_fast_increase(); ++i) ack(milliseconds{50 + i / 5});
  EXPECT_FALSE(scream_.in_fast_increase());
  EXPECT_GE(scream_.qdelay_trend(), 0.2);
}

TEST_F(ScreamTest, ResumesFastIncreaseAfterFiveCalmSeconds) {
  leave_fast_increase();
  for (int i = 0; i < 4900; ++i) ack(milliseconds{50});
  EXPECT_FALSE(scream_.in_fast_increase());
  for (int i = 0; i < 200; ++i) ack(milliseconds{50});
  EXPECT_TRUE(scream_.in_fast_increase());
}

// 11000 bytes per 100 ms are 0.88 Mbit/s; below the target one packet more than the window may be in
// measured.
TEST_F(ScreamTest, PacesItsWindowOverARoundTripWithAPacketOfSlackBelowTheTarget) {
  for (int i = 0; i < 8; ++i) ack(milliseconds{50});
  EXPECT_NEAR(scream_.limits().pacing_rate->mbps(), 0.88, 1e-9);
  EXPECT_EQ(scream_.limits().cwnd_bytes, 12'000);
  leave_fast_increase();
  ack(milliseconds{250});
  EXPECT_EQ(scream_.limits().cwnd_bytes, static_cast<int64_t>(scream_.cwnd_bytes()));
}

// 0.8 of 11000 bytes per 50 ms.
TEST_F(ScreamTest, PacesTheWindowOfATimeoutOverTheRoundTripThatItTells) {
  for (int i = 0; i < 8; ++i) ack(milliseconds{50});
  const std::array lost{LostPacket{.seq = 0, .bytes = kPacketBytes, .sent_at = now_}};
  scream_.on_timeout(now_, {.lost = lost, .rtt = {.smoothed = milliseconds{50}}});
  EXPECT_NEAR(scream_.limits().pacing_rate->mbps(), 0.8 * 11 * 8 / 50, 1e-9);
}

// A delay that stays at 200 ms, twice QDELAY_TARGET_LO, for all 200 samples: average 2, variance 0.
TEST(QdelayTarget, FollowsADelayThatStays) {
  QdelayTarget target;
  for (int i = 0; i < 200; ++i) target.update(0.2);
  EXPECT_NEAR(target.seconds(), 0.2, 1e-9);
}

// 150 samples of 0.1 and 50 of 0.2: the average of the last 50 is 2, the variance 3/16 < 0.2 of all.
TEST(QdelayTarget, AddsTheDeviationOfAllSamplesToTheAverageOfTheLast) {
  QdelayTarget target;
  for (int i = 0; i < 150; ++i) target.update(0.1);
  for (int i = 0; i < 50; ++i) target.update(0.2);
  EXPECT_NEAR(target.seconds(), 0.1 * (2 + std::sqrt(3.0 / 16)), 1e-9);
}

// Between 0 and 400 ms the variance is 4: unless packets are lost, the target stays at its least.
TEST(QdelayTarget, FallsToItsLeastWhileTheDelayVaries) {
  QdelayTarget target;
  for (int i = 0; i < 200; ++i) target.update(0.2);
  for (int i = 0; i < 200; ++i) target.update(i % 2 == 0 ? 0 : 0.4);
  EXPECT_EQ(target.seconds(), 0.1);
}

// A round trip with a loss has weight 0.01, above 0.002; after 161 without one 0.01 * 0.99^161 is below.
TEST(QdelayTarget, RisesToItsMostWhileLossesTellOfCompetition) {
  QdelayTarget target;
  target.note_loss();
  target.end_round_trip();
  EXPECT_NEAR(target.loss_event_rate(), 0.01, 1e-12);
  for (int i = 0; i < 200; ++i) target.update(i % 2 == 0 ? 0 : 0.4);
  EXPECT_EQ(target.seconds(), 0.4);  // 1.5 * (2 + 2) * 100 ms is bounded by QDELAY_TARGET_HI
  for (int i = 0; i < 161; ++i) target.end_round_trip();
  for (int i = 0; i < 20; ++i) target.update(i % 2 == 0 ? 0 : 0.4);
  EXPECT_EQ(target.seconds(), 0.1);
}

TEST(ScreamRun, FillsTheLink) {
  const Measured measured = run_scenario("scream", {.queue_packets = 60});
  EXPECT_GT(measured.mbps, 0.95 * 12);
  EXPECT_LT(measured.lost_share, 0.03);
}

}  // namespace
}  // namespace ccgym
