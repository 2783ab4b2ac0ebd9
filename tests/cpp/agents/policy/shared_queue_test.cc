#include "agents/policy/shared_queue.hh"

#include <gtest/gtest.h>

#include <array>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kBytes = 1000;
constexpr RttStats kRtt{milliseconds{100}, milliseconds{100}, milliseconds{90}};

class SharedQueueTest : public testing::Test {
 protected:
  // Delivered in the round trip that ends now.
  void deliver(int64_t packets) {
    const std::array acked{AckedPacket{.bytes = kBytes}};
    const RateSample rate{.delivered_bytes = packets * kBytes, .interval = milliseconds{100}};
    queue_.on_ack({.acked = acked, .rtt = kRtt, .rate = rate});
  }

  SharedQueue queue_{};
};

// A packet per ms: 90 of the path, and 3 x 1.2 in the queue.
TEST_F(SharedQueueTest, KeepsNotManyMorePacketsThanItsOwn) {
  deliver(100);
  EXPECT_NEAR(queue_.window(kRtt, 100, 105), 93.6, 1e-9);
}

TEST_F(SharedQueueTest, AddsItsOwnToAWindowThatLeavesNoQueue) {
  deliver(100);
  EXPECT_NEAR(queue_.window(kRtt, 100, 90), 91.2, 1e-9);
}

// 16 packets per ms: four times as many, not sixteen.
TEST_F(SharedQueueTest, AFastFlowKeepsFewerPerRate) {
  deliver(1600);
  EXPECT_NEAR(queue_.window(kRtt, 1600, 1440), 1440 + 4 * 1.2, 1e-9);
}

TEST_F(SharedQueueTest, ANetworkThatWantsFarMoreHasSeenRoom) {
  deliver(100);
  EXPECT_NEAR(queue_.window(kRtt, 100, 130), 131.2, 1e-9);
}

TEST_F(SharedQueueTest, BoundsNothingBeforeTheFirstMeasurement) {
  EXPECT_NEAR(queue_.window(kRtt, 100, 105), 106.2, 1e-9);
}

}  // namespace
}  // namespace ccgym
