#include "agents/controllers/policy/queue_drain.hh"

#include <gtest/gtest.h>

#include <optional>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMinRtt{100};
constexpr milliseconds kQueued{140};
constexpr double kWindow = 70;

class QueueDrainTest : public testing::Test {
 protected:
  // An ACK 10 ms after the last one, over a queue that has been standing.
  std::optional<Drained> ack(milliseconds rtt, milliseconds smoothed = kQueued) {
    now_ += milliseconds{10};
    return drain_.on_ack(now_, {.latest = rtt, .smoothed = smoothed, .min = kMinRtt}, kWindow);
  }

  // ACKs of so many standing round trips.
  void stand(int round_trips) {
    const Time end = now_ + round_trips * kQueued;
    while (now_ < end) ack(kQueued);
  }

  [[nodiscard]] bool limited() const { return drain_.limit(kWindow) < kWindow; }

  std::optional<Drained> finish(milliseconds rtt) {
    std::optional<Drained> drained;
    while (drain_.on() && !drained) drained = ack(rtt);
    return drained;
  }

  QueueDrain drain_{};
  Time now_{};
};

TEST_F(QueueDrainTest, DrainsAQueueThatHasStoodForFifteenRoundTrips) {
  stand(15);
  EXPECT_FALSE(limited());
  stand(1);
  EXPECT_TRUE(limited());
}

// 70 packets in 140 ms are 50 in 100 ms; 0.85 of them are kept.
TEST_F(QueueDrainTest, KeepsLessThanThePathHolds) {
  stand(16);
  EXPECT_NEAR(drain_.limit(kWindow), 42.5, 1e-9);
  EXPECT_EQ(drain_.limit(30), 30);
}

TEST_F(QueueDrainTest, LetsTheWindowGoAfterARoundTripAndLooksForOneMore) {
  stand(15);
  while (!limited()) ack(kQueued);
  const Time began = now_;
  while (limited()) ack(kQueued);
  EXPECT_EQ(now_ - began, kQueued + milliseconds{10});
  EXPECT_TRUE(drain_.on());
  while (drain_.on()) ack(kQueued);
  EXPECT_EQ(now_ - began, kQueued + kMinRtt + milliseconds{20});
}

TEST_F(QueueDrainTest, AnEmptyQueueStartsTheClockAnew) {
  stand(10);
  ack(kMinRtt);
  stand(15);
  EXPECT_FALSE(drain_.on());
  stand(1);
  EXPECT_TRUE(drain_.on());
}

TEST_F(QueueDrainTest, APathWithoutAQueueIsLeftAlone) {
  for (int i = 0; i < 1000; ++i) ack(kMinRtt, kMinRtt);
  EXPECT_FALSE(drain_.on());
}

TEST_F(QueueDrainTest, TellsHowMuchOfTheQueueStayed) {
  stand(16);
  const auto drained = finish(milliseconds{110});
  ASSERT_TRUE(drained.has_value());
  EXPECT_DOUBLE_EQ(drained->left, 0.25);
  EXPECT_EQ(drained->cwnd_packets, kWindow);
  EXPECT_EQ(drained->smoothed_rtt, kQueued);
}

// Flows whose drains began at different times see the same empty queue, and count from it.
TEST_F(QueueDrainTest, CountsFromTheEmptyQueueOfADrain) {
  stand(16);
  ASSERT_TRUE(limited());
  while (limited()) ack(kQueued);
  ack(kMinRtt);
  const Time emptied = now_;
  while (!limited()) ack(kQueued);
  EXPECT_EQ(now_ - emptied, 15 * kQueued + milliseconds{10});
}

}  // namespace
}  // namespace ccgym
