#include "agents/companion/drain_watch.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMinRtt{50};
constexpr milliseconds kQueue{20};

class DrainWatchTest : public testing::Test {
 protected:
  // A round trip through a queue of so long; whether others drain.
  bool round_trip(milliseconds queue) {
    const RttStats rtt{kMinRtt + queue, kMinRtt + kQueue, kMinRtt};
    bool drain = false;
    for (const Time end = now_ + kMinRtt + kQueue; now_ < end; now_ += milliseconds{10})
      drain = watch_.on_ack(now_, rtt) || drain;
    return drain;
  }

  // Over and over, each time with a few round trips at less than the queue that stands: whether others drain
  // after so many times.
  bool after(int times, const std::vector<milliseconds>& fallen, int standing = 10) {
    bool drain = false;
    for (int i = 0; i < times; ++i) {
      for (int j = 0; j < standing; ++j) drain = round_trip(kQueue) || drain;
      for (const milliseconds queue : fallen) drain = round_trip(queue) || drain;
    }
    for (int j = 0; j < 3; ++j) drain = round_trip(kQueue) || drain;
    return drain;
  }

  DrainWatch watch_{};
  Time now_{};
};

TEST_F(DrainWatchTest, SeesAQueueThatFallsByHalfAndIsBackAgainAndAgain) {
  EXPECT_FALSE(after(3, {milliseconds{8}}));
  EXPECT_TRUE(after(1, {milliseconds{8}}));
}

TEST_F(DrainWatchTest, ADrainMayLastTwoRoundTrips) {
  EXPECT_TRUE(after(4, {milliseconds{1}, milliseconds{9}}));
}

TEST_F(DrainWatchTest, AQueueThatKeepsMoreThanHalfIsNotDrained) {
  EXPECT_FALSE(after(20, {milliseconds{11}}));
}

// As after Cubic's cut: 0.7 of the window, and then its growth.
TEST_F(DrainWatchTest, AQueueThatComesBackSlowlyIsNotDrained) {
  std::vector<milliseconds> slowly;
  for (int queue = 6; queue < 20; ++queue) slowly.emplace_back(queue);
  EXPECT_FALSE(after(20, slowly));
}

TEST_F(DrainWatchTest, AQueueThatFallsAfterLossesOfOursSaysNothing) {
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 10; ++j) EXPECT_FALSE(round_trip(kQueue));
    watch_.on_own_cut();
    EXPECT_FALSE(round_trip(milliseconds{5}));
  }
}

// As BBR's ProbeRTT, every 10 s.
TEST_F(DrainWatchTest, WhatIsRareIsNoDrain) { EXPECT_FALSE(after(20, {milliseconds{1}}, 40)); }

TEST_F(DrainWatchTest, AQueueOfALinksClockSaysNothing) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(round_trip(milliseconds{i % 10 == 0 ? 0 : 2}));
}

}  // namespace
}  // namespace ccgym
