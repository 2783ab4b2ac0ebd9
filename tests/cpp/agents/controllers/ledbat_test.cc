#include "agents/controllers/ledbat.hh"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/cpp/agents/controllers/window_flow.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr milliseconds kRtt{50};
constexpr Time kClockOffset = minutes{-7};  // of the receiver: a one-way delay means nothing by itself
constexpr Time kBaseDelay = kClockOffset + milliseconds{20};

class LedbatTest : public testing::Test {
 protected:
  void SetUp() override {
    flow_.send_while_open();
    acknowledge(1, {});  // one sample of the base delay, in slow start: 11 packets
  }

  void acknowledge(int packets, Time queueing_delay) {
    for (int i = 0; i < packets; ++i) {
      flow_.ack(next_ack_++, kRtt, kBaseDelay + queueing_delay);
      flow_.send_while_open();
    }
  }

  // The filter holds four samples and takes the smallest.
  void leave_slow_start() { acknowledge(4, milliseconds{100}); }

  Ledbat ledbat_{WindowFlow::kPacketBytes};
  WindowFlow flow_{ledbat_};
  uint64_t next_ack_{0};
};

TEST_F(LedbatTest, DoublesUntilTheQueueIsAtTheTarget) {
  EXPECT_EQ(flow_.cwnd(), 11);
  acknowledge(10, milliseconds{99});
  EXPECT_EQ(flow_.cwnd(), 21);
  acknowledge(4, milliseconds{100});  // the first three still see 99 ms
  EXPECT_EQ(flow_.cwnd(), 12);        // half of 24, the window that filled the queue
}

// Section 2.4.2: GAIN * off_target / cwnd per packet: half of the target gives half a packet per window.
TEST_F(LedbatTest, GrowsInProportionToTheDistanceFromTheTarget) {
  leave_slow_start();
  acknowledge(1, milliseconds{50});
  const double before = flow_.cwnd();
  acknowledge(static_cast<int>(before), milliseconds{50});
  EXPECT_NEAR(flow_.cwnd(), before + 0.5, 0.05);
}

// GAIN = 1 and an empty queue, off_target = 1: one packet per window, the fastest growth.
TEST_F(LedbatTest, GrowsByAPacketPerWindowWithoutAQueue) {
  leave_slow_start();
  acknowledge(1, {});
  const double before = flow_.cwnd();
  acknowledge(static_cast<int>(std::ceil(before)), {});
  EXPECT_NEAR(flow_.cwnd(), before + 1, 0.1);
}

TEST_F(LedbatTest, ShrinksAboveTheTarget) {
  leave_slow_start();
  acknowledge(4, milliseconds{200});
  const double before = flow_.cwnd();
  acknowledge(static_cast<int>(before), milliseconds{200});
  EXPECT_NEAR(flow_.cwnd(), before - 1, 0.1);
}

TEST_F(LedbatTest, IsNotMisledByOneLatePacket) {
  leave_slow_start();
  acknowledge(4, {});
  const double before = flow_.cwnd();
  acknowledge(1, milliseconds{1000});
  EXPECT_GT(flow_.cwnd(), before);
}

// Section 2.4.2, max_allowed_cwnd: the application limits the flow.
TEST_F(LedbatTest, GrowsNoFurtherThanAPacketBeyondWhatIsInFlight) {
  const double before = flow_.cwnd();
  for (int i = 0; i < 8; ++i) flow_.ack(next_ack_++, kRtt, kBaseDelay);
  EXPECT_LE(flow_.cwnd(), before + 1);
}

// Section 2.4.1: a congestion time-out leaves one packet, and no slow start follows.
TEST_F(LedbatTest, KeepsOnePacketAfterATimeout) {
  std::vector<uint64_t> lost;
  for (uint64_t seq = next_ack_; seq < flow_.next_seq(); ++seq) lost.push_back(seq);
  next_ack_ = flow_.next_seq();
  flow_.lose(lost, /*timeout=*/true);
  EXPECT_EQ(flow_.cwnd(), 1);
  flow_.send_while_open();
  acknowledge(1, {});
  EXPECT_EQ(flow_.cwnd(), 2);
  acknowledge(2, {});
  EXPECT_LT(flow_.cwnd(), 2 + 1.1);
}

TEST_F(LedbatTest, ForgetsABaseDelayOfTenMinutesAgo) {
  leave_slow_start();
  acknowledge(4, milliseconds{200});
  for (int i = 0; i < 10; ++i) {  // the path has become longer by twice the target
    flow_.wait(minutes{1});
    acknowledge(1, milliseconds{200});
  }
  const double before = flow_.cwnd();
  acknowledge(4, milliseconds{200});
  EXPECT_GT(flow_.cwnd(), before);
}

TEST_F(LedbatTest, HalvesTheWindowOnALossAndKeepsTwoPackets) {
  leave_slow_start();
  flow_.lose_one_and_recover(kRtt);
  EXPECT_NEAR(flow_.cwnd(), 7, 1);  // 13 or 14 in flight
  for (int i = 0; i < 4; ++i) {
    flow_.send_while_open();
    flow_.lose_one_and_recover(kRtt);
  }
  EXPECT_GE(flow_.cwnd(), 2);
}

// Section 2.4.1: cwnd = min(cwnd, max(cwnd / 2, MIN_CWND)), also while far more than cwnd is in flight.
TEST_F(LedbatTest, DoesNotRaiseTheWindowOnALoss) {
  leave_slow_start();
  acknowledge(6, seconds{5});  // off_target = -49: the window falls to its minimum within a few ACKs
  const double before = flow_.cwnd();
  ASSERT_GT(static_cast<double>(flow_.inflight()), 3 * before);
  flow_.lose_one_and_recover(kRtt);
  EXPECT_LE(flow_.cwnd(), before);
}

}  // namespace
}  // namespace ccgym
