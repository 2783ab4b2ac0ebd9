#include "agents/companion/queue_peaks.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr double kWindow = 400;

class QueuePeaksTest : public testing::Test {
 protected:
  // Round trips in which the queue is empty at first and at the end, and `peak` long in between.
  void pass(int round_trips, Time peak, bool undisturbed = true) {
    for (int i = 0; i < round_trips; ++i) {
      see(milliseconds{0}, undisturbed);
      see(peak, undisturbed);
    }
  }
  void see(Time queueing, bool undisturbed = true) {
    const RttStats rtt{min_rtt_ + queueing, min_rtt_, min_rtt_};
    peaks_.on_ack(now_ += min_rtt_ / 2 + milliseconds{1}, rtt, cwnd_packets_, return_jitter_, undisturbed);
  }

  QueuePeaks peaks_{};
  Time min_rtt_{milliseconds{400}};
  Time return_jitter_{};
  double cwnd_packets_{kWindow};
  Time now_{};
};

TEST_F(QueuePeaksTest, AskForTheShareAfterFourRoundTrips) {
  pass(4, milliseconds{20});
  EXPECT_FALSE(peaks_.asks_for_share());
  pass(1, milliseconds{20});
  EXPECT_TRUE(peaks_.asks_for_share());
}

TEST_F(QueuePeaksTest, AskUntilSixTrainsAreMeasured) {
  pass(6, milliseconds{20});
  peaks_.on_trains(5);
  EXPECT_TRUE(peaks_.asks_for_share());
  peaks_.on_trains(6);
  EXPECT_FALSE(peaks_.asks_for_share());
}

TEST_F(QueuePeaksTest, AreLongerThanALoneFlowsQueue) {
  pass(20, milliseconds{19});
  EXPECT_FALSE(peaks_.asks_for_share());
}

TEST_F(QueuePeaksTest, AreSeenInARow) {
  for (int i = 0; i < 5; ++i) {
    pass(3, milliseconds{30});
    pass(1, milliseconds{0});
  }
  EXPECT_FALSE(peaks_.asks_for_share());
}

TEST_F(QueuePeaksTest, AreMoreThanTheReturnJitter) {
  return_jitter_ = milliseconds{15};
  pass(20, milliseconds{34});
  EXPECT_FALSE(peaks_.asks_for_share());
  pass(5, milliseconds{35});
  EXPECT_TRUE(peaks_.asks_for_share());
}

TEST_F(QueuePeaksTest, AreMoreThanAFewPackets) {
  cwnd_packets_ = 40;  // 10 ms each
  pass(20, milliseconds{39});
  EXPECT_FALSE(peaks_.asks_for_share());
  pass(5, milliseconds{40});
  EXPECT_TRUE(peaks_.asks_for_share());
}

TEST_F(QueuePeaksTest, DoNotCountWhereTheyHaveAnotherReason) {
  for (int i = 0; i < 5; ++i) {
    pass(3, milliseconds{30});
    pass(1, milliseconds{30}, false);
  }
  EXPECT_FALSE(peaks_.asks_for_share());
}

TEST_F(QueuePeaksTest, DoNotCountOnShortPaths) {
  min_rtt_ = milliseconds{100};
  pass(20, milliseconds{30});
  EXPECT_FALSE(peaks_.asks_for_share());
}

}  // namespace
}  // namespace ccgym
