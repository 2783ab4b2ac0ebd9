#include "agents/controllers/scream.hh"

#include <gtest/gtest.h>

#include <array>

#include "tests/cpp/controllers/scenario.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kPacketBytes = 1000;

class ScreamTest : public testing::Test {
 protected:
  // An ACK of a packet that met so much delay on its way, with the window full.
  void ack(milliseconds delay, int64_t inflight_bytes = 1'000'000) {
    now_ += milliseconds{1};
    scream_.on_ack(now_, {.bytes = kPacketBytes,
                          .sent_at = now_ - 2 * delay,
                          .received_at = now_ - delay,
                          .inflight_bytes = inflight_bytes,
                          .rtt = {.smoothed = milliseconds{100}}});
  }
  void lose(Time sent_at) {
    const std::array lost{LostPacket{.seq = 0, .bytes = kPacketBytes, .sent_at = sent_at}};
    scream_.on_loss(now_, {.packets = lost});
  }
  void leave_fast_increase() {
    ack(milliseconds{50});
    lose(now_);
    ASSERT_FALSE(scream_.in_fast_increase());
  }

  Scream scream_{kPacketBytes};
  Time now_{seconds{1}};
};

TEST_F(ScreamTest, GrowsByWhatIsAcknowledgedInFastIncrease) {
  for (int i = 0; i < 5; ++i) ack(milliseconds{50});
  EXPECT_EQ(scream_.cwnd_bytes(), 15'000);
}

TEST_F(ScreamTest, DoesNotGrowAWindowThatIsNotUsed) {
  ack(milliseconds{50}, 1000);  // 1.5 * 2000 + 1000 < 10000
  EXPECT_EQ(scream_.cwnd_bytes(), 10'000);
}

// BETA_LOSS = 0.8, once per round trip.
TEST_F(ScreamTest, FallsByAFifthForTheLossesOfARoundTrip) {
  ack(milliseconds{50});
  const Time sent_at = now_;
  lose(sent_at);
  EXPECT_NEAR(scream_.cwnd_bytes(), 0.8 * 11'000, 1e-6);
  now_ += milliseconds{10};
  lose(sent_at - milliseconds{1});
  EXPECT_NEAR(scream_.cwnd_bytes(), 0.8 * 11'000, 1e-6);
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

// A queue that grows for a second: its fractions correlate, and their average passes 0.2.
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

// 11000 bytes per 100 ms are 0.88 Mbit/s; below the target one packet more than the window may be in flight.
TEST_F(ScreamTest, PacesItsWindowOverARoundTripWithAPacketOfSlackBelowTheTarget) {
  ack(milliseconds{50});
  EXPECT_NEAR(*scream_.limits().pacing_mbps, 0.88, 1e-9);
  EXPECT_EQ(scream_.limits().cwnd_bytes, 12'000);
  leave_fast_increase();
  ack(milliseconds{250});
  EXPECT_EQ(scream_.limits().cwnd_bytes, static_cast<int64_t>(scream_.cwnd_bytes()));
}

TEST(ScreamFlight, FillsTheLink) {
  const Measured flight = fly_scenario("scream", {.queue_packets = 60});
  EXPECT_GT(flight.mbps, 0.95 * 12);
  EXPECT_LT(flight.lost_share, 0.03);
}

}  // namespace
}  // namespace ccgym
