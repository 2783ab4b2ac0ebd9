#include "agents/controllers/cubic.hh"

#include <gtest/gtest.h>

#include "tests/cpp/agents/controllers/window_flow.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRtt{100};

class CubicTest : public testing::Test {
 protected:
  // Slow start in rounds of 100 ms to a window of `packets`, all in flight; a jump of the RTT ends it.
  void slow_start_to(double packets) {
    flow_.send_while_open();
    while (flow_.cwnd() < packets) flow_.round_trip(kRtt);
    ASSERT_EQ(flow_.cwnd(), packets);
  }

  Cubic cubic_{WindowFlow::kPacketBytes};
  WindowFlow flow_{cubic_};
};

TEST_F(CubicTest, StartsWithTenPacketsAndDoubles) {
  EXPECT_EQ(flow_.send_while_open(), 10);
  flow_.round_trip(kRtt);
  EXPECT_EQ(flow_.cwnd(), 20);
  flow_.round_trip(kRtt);
  EXPECT_EQ(flow_.cwnd(), 40);
}

// Section 4.6: beta_cubic 0.7.
TEST_F(CubicTest, ReducesTheWindowToSevenTenths) {
  slow_start_to(320);
  flow_.lose_one_and_recover(kRtt);
  EXPECT_NEAR(flow_.cwnd(), 224, 1);
}

// W_max 320, beta 0.7: K = cbrt(320 * 0.3 / 0.4) = 6.214 s (eq. 2). At K the window is W_max again; 2 s later
// W_max + 0.4 * 2^3 = 323.2. Reno would have grown by 0.529 a round trip, 62 * 0.529 = 33, and is not there.
TEST_F(CubicTest, ReturnsToTheLostWindowAfterKSecondsAndProbesBeyond) {
  slow_start_to(320);
  flow_.lose_one_and_recover(kRtt);
  flow_.send_while_open();
  for (int i = 0; i < 31; ++i) flow_.round_trip(kRtt);  // K / 2: W_max - 0.4 * 3.107^3 = 308
  EXPECT_NEAR(flow_.cwnd(), 308, 1.5);
  for (int i = 0; i < 31; ++i) flow_.round_trip(kRtt);
  EXPECT_NEAR(flow_.cwnd(), 320, 1);
  for (int i = 0; i < 20; ++i) flow_.round_trip(kRtt);
  EXPECT_NEAR(flow_.cwnd(), 323.2, 1);
}

// Section 4.7: a loss at 224 < W_max 320 makes W_max 224 * (1 + 0.7) / 2 = 190.4; the window, 156.8, is back
// there after cbrt((190.4 - 156.8) / 0.4) = 4.38 s.
TEST_F(CubicTest, GivesWayWhenALossComesBeforeTheLastMaximum) {
  slow_start_to(320);
  flow_.lose_one_and_recover(kRtt);
  flow_.send_while_open();
  flow_.lose_one_and_recover(kRtt);
  EXPECT_NEAR(flow_.cwnd(), 156.8, 2);
  flow_.send_while_open();
  for (int i = 0; i < 44; ++i) flow_.round_trip(kRtt);
  EXPECT_NEAR(flow_.cwnd(), 190.4, 2);
}

// Section 4.3: at a short RTT Reno grows faster than the cubic function. W_max 40, RTT 10 ms: in the first
// second W_est gains 100 * 0.529 packets, up to cwnd_prior 40 at a window of 28 and then a packet a round
// trip; the cubic function would need K = cbrt(12 / 0.4) = 3.1 s to be back at 40.
TEST_F(CubicTest, GrowsAsRenoWhereRenoIsFaster) {
  const milliseconds rtt{10};
  flow_.send_while_open();
  flow_.round_trip(rtt);
  flow_.round_trip(rtt);
  ASSERT_EQ(flow_.cwnd(), 40);
  flow_.lose_one_and_recover(rtt);
  flow_.send_while_open();
  const double before = flow_.cwnd();
  for (int i = 0; i < 10; ++i) flow_.round_trip(rtt);
  EXPECT_NEAR(flow_.cwnd(), before + 10 * 0.529, 1);
  for (int i = 0; i < 50; ++i) flow_.round_trip(rtt);
  EXPECT_NEAR(flow_.cwnd(), 28 + 12 + (60 - 12 / 0.529), 4);
}

TEST_F(CubicTest, NeverGrowsByMoreThanHalfAWindowPerRoundTripAfterSlowStart) {
  slow_start_to(40);
  flow_.lose_one_and_recover(kRtt);
  flow_.send_while_open();
  flow_.wait(std::chrono::minutes{10});  // the cubic function is at 86 million packets
  const double before = flow_.cwnd();
  flow_.ack(flow_.next_seq() - 1, kRtt);
  EXPECT_NEAR(flow_.cwnd(), before + 0.5, 1e-3);
}

TEST_F(CubicTest, RestartsFromOnePacketAfterATimeout) {
  slow_start_to(40);
  std::vector<uint64_t> all;
  for (int64_t back = flow_.inflight(); back > 0; --back) {
    all.push_back(flow_.next_seq() - static_cast<uint64_t>(back));
  }
  flow_.lose(all, /*timeout=*/true);
  EXPECT_EQ(flow_.cwnd(), 1);
  flow_.send_while_open();
  for (int i = 0; i < 5; ++i) flow_.round_trip(kRtt);  // 2, 4, 8, 16, then ssthresh, 0.7 * 40
  EXPECT_NEAR(flow_.cwnd(), 28, 2);
}

TEST_F(CubicTest, HoldsSsthreshWhereOneTimeoutFollowsAnother) {  // RFC 5681 section 3.1
  slow_start_to(40);
  for (int i = 0; i < 3; ++i) {
    flow_.lose(flow_.all_in_flight(), /*timeout=*/true);
    flow_.send_while_open();
  }
  for (int i = 0; i < 5; ++i) flow_.round_trip(kRtt);
  EXPECT_NEAR(flow_.cwnd(), 28, 2);
}

// RFC 9438, section 4.9.1: cwnd, ssthresh, W_max, K and the epoch are restored.
TEST_F(CubicTest, GoesBackToItsEpochAfterASpuriousTimeout) {
  slow_start_to(40);
  flow_.lose_one_and_recover(kRtt);
  flow_.round_trip(kRtt);
  const double before = flow_.cwnd();
  std::vector<uint64_t> all;
  for (int64_t back = flow_.inflight(); back > 0; --back) {
    all.push_back(flow_.next_seq() - static_cast<uint64_t>(back));
  }
  Cubic undisturbed = cubic_;
  flow_.lose(all, /*timeout=*/true);
  flow_.send_while_open();
  cubic_.on_spurious_loss(flow_.now(), {.timeout = true});
  EXPECT_EQ(flow_.cwnd(), before);
  WindowFlow other{undisturbed};
  other.wait(flow_.now());
  flow_.ack(all.front(), kRtt);
  other.ack(all.front(), kRtt);
  EXPECT_EQ(flow_.cwnd(), other.cwnd());
}

// Section 5.8, RFC 9002 section 7.8.
TEST_F(CubicTest, DoesNotGrowAWindowThatTheApplicationLeavesUnused) {
  slow_start_to(40);
  flow_.limit_by(Limit::application);
  for (int i = 0; i < 20; ++i) flow_.round_trip(kRtt);
  EXPECT_EQ(flow_.cwnd(), 40);
}

// Section 5.8: time that the application leaves unused does not count; else ten seconds would bring the
// window far beyond the one that was lost.
TEST_F(CubicTest, GoesOnWithItsEpochWhereItWasBeforeAnIdleTime) {
  slow_start_to(320);
  flow_.lose_one_and_recover(kRtt);
  flow_.send_while_open();
  flow_.round_trip(kRtt);
  Cubic busy = cubic_;
  const Time before = flow_.now();
  flow_.wait(std::chrono::seconds{10});
  cubic_.on_restart(flow_.now(), std::chrono::seconds{10});
  WindowFlow other{busy};
  other.wait(before);
  other.send_while_open();
  for (int i = 0; i < 5; ++i) {
    flow_.round_trip(kRtt);
    other.round_trip(kRtt);
  }
  EXPECT_NEAR(flow_.cwnd(), other.cwnd(), 1);
}

TEST_F(CubicTest, DoesNotCountTheTimeThatTheApplicationLeavesUnused) {
  slow_start_to(320);
  flow_.lose_one_and_recover(kRtt);
  flow_.send_while_open();
  flow_.round_trip(kRtt);
  const double before = flow_.cwnd();
  flow_.limit_by(Limit::application);
  for (int i = 0; i < 100; ++i) flow_.round_trip(kRtt);
  flow_.limit_by(Limit::window);
  for (int i = 0; i < 2; ++i) flow_.round_trip(kRtt);
  EXPECT_LT(flow_.cwnd(), before + 20);  // K is six seconds
}

// HyStart: eight ACKs of a round later than the smallest RTT by 1/8 of it, at least 4 ms.
TEST_F(CubicTest, LeavesSlowStartWhenTheDelayRises) {
  slow_start_to(40);
  const milliseconds queued = kRtt + milliseconds{14};  // more than 100 / 8
  flow_.round_trip(queued);                             // the first ACK begins a round; the ninth knows
  EXPECT_GT(flow_.cwnd(), 40 + 8);
  EXPECT_LT(flow_.cwnd(), 40 + 12);
}

TEST_F(CubicTest, StaysInSlowStartWhenTheDelayRisesByLess) {
  slow_start_to(40);
  flow_.round_trip(kRtt + milliseconds{12});
  EXPECT_EQ(flow_.cwnd(), 80);
}

// ACKs a millisecond apart for longer than half a round trip: the pipe is half full, one doubling away.
TEST_F(CubicTest, LeavesSlowStartWhenAWindowOfAcksLastsHalfARoundTrip) {
  slow_start_to(80);
  const uint64_t first = flow_.next_seq() - 80;
  flow_.wait(kRtt);
  for (uint64_t i = 0; i < 60; ++i) {
    flow_.ack(first + i, kRtt);
    flow_.wait(milliseconds{1});
  }
  EXPECT_NEAR(flow_.cwnd(), 80 + 50, 4);  // (100 + 1) / 2 ACKs double, the others add a twentieth
}

}  // namespace
}  // namespace ccgym
