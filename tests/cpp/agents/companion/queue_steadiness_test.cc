#include "agents/companion/queue_steadiness.hh"

#include <gtest/gtest.h>

#include <array>

namespace ccgym {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds kMinRtt{20};

class QueueSteadinessTest : public testing::Test {
 protected:
  // A round trip, the end of which sees such a queue, and its beginning a longer one.
  void pass(Time queueing, double cwnd_packets = 100) {
    see(microseconds{1}, queueing + milliseconds{20}, cwnd_packets);
    see(kMinRtt, queueing, cwnd_packets);
  }
  void see(Time after, Time queueing, double cwnd_packets) {
    queue_.on_ack(now_ += after, {kMinRtt + queueing, kMinRtt, kMinRtt}, cwnd_packets);
  }
  template <size_t kTimes>
  void repeat(const std::array<int, kTimes>& queueing_ms, int times) {
    for (int i = 0; i < times; ++i)
      for (const int ms : queueing_ms) pass(milliseconds{ms});
  }

  QueueSteadiness queue_{};
  Time now_{};
};

TEST_F(QueueSteadinessTest, IsPresumed) {
  EXPECT_FALSE(queue_.is_unsteady());
  repeat(std::array{10, 2}, 1);
  EXPECT_FALSE(queue_.is_unsteady());
}

TEST_F(QueueSteadinessTest, IsOfAQueueThatStays) {
  repeat(std::array{10, 12}, 20);
  EXPECT_FALSE(queue_.is_unsteady());
}

TEST_F(QueueSteadinessTest, IsLeftToAQueueThatOthersDrainNowAndThen) {
  repeat(std::array{10, 10, 10, 10, 2}, 20);
  EXPECT_FALSE(queue_.is_unsteady());
}

TEST_F(QueueSteadinessTest, IsNotOfOneThatGoesUpAndDown) {
  repeat(std::array{10, 4, 7, 15, 9, 3}, 4);
  EXPECT_TRUE(queue_.is_unsteady());
  repeat(std::array{10, 10}, 20);
  EXPECT_FALSE(queue_.is_unsteady());
}

TEST_F(QueueSteadinessTest, DoesNotEndWithHalfATickOfTheLinksClock) {
  for (int i = 0; i < 40; ++i) pass(microseconds{i % 2 == 0 ? 1010 : 1490});
  EXPECT_FALSE(queue_.is_unsteady());
  for (int i = 0; i < 40; ++i) pass(microseconds{i % 2 == 0 ? 1010 : 1900});
  EXPECT_TRUE(queue_.is_unsteady());
}

TEST_F(QueueSteadinessTest, IsNotAskedOfLessThanAPacket) {
  for (int i = 0; i < 40; ++i) pass(milliseconds{i % 2 == 0 ? 4 : 0}, /*cwnd_packets=*/4);
  EXPECT_FALSE(queue_.is_unsteady());
}

TEST_F(QueueSteadinessTest, DoesNotCompareAcrossADrain) {
  for (int i = 0; i < 40; ++i) {
    pass(milliseconds{i % 2 == 0 ? 10 : 2});
    queue_.on_own_drain();
  }
  EXPECT_FALSE(queue_.is_unsteady());
}

}  // namespace
}  // namespace ccgym
