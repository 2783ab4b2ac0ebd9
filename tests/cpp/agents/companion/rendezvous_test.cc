#include "agents/companion/rendezvous.hh"

#include <gtest/gtest.h>

#include <vector>

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kMinRtt{50};
constexpr milliseconds kQueue{100};
constexpr double kLinkPacketsPerMs = 2;  // 200 packets in the queue
constexpr double kWindow = 20;           // of which it explains few
constexpr double kLargestWindow = 180;   // of which it explains most
constexpr Time kSlot{int64_t{1} << 33};

class RendezvousTest : public testing::Test {
 protected:
  // An ACK a millisecond, of a queue of `standing`, or of `drained` while it drains; whether only our kind
  // was there, as was found until `end`.
  bool run(Time end, milliseconds standing, milliseconds drained) {
    bool of_our_kind = false;
    for (; now_ < end; now_ += milliseconds{1}) {
      const Time queue = rendezvous_.on() ? drained : standing;
      const RttStats rtt{min_rtt_ + queue, min_rtt_ + standing, min_rtt_};
      const bool drains = rendezvous_.drains();
      of_our_kind = rendezvous_.on_ack(now_, rtt, cwnd_packets_, kLinkPacketsPerMs) || of_our_kind;
      if (rendezvous_.drains() && !drains) begun_.push_back(now_);
      if (!rendezvous_.drains() && drains) ended_.push_back(now_);
    }
    return of_our_kind;
  }

  Rendezvous rendezvous_{Time{}};
  Time now_{milliseconds{1}};
  Time min_rtt_{kMinRtt};
  double cwnd_packets_{kWindow};
  std::vector<Time> begun_{};
  std::vector<Time> ended_{};
};

TEST_F(RendezvousTest, AQueueThatRunsEmptyWasOfOurKind) {
  EXPECT_TRUE(run(kSlot + seconds{1}, kQueue, milliseconds{0}));
  ASSERT_EQ(begun_.size(), 1U);
  EXPECT_NEAR(in_ms(begun_[0] - kSlot), 0, 1);
}

TEST_F(RendezvousTest, AQueueThatStaysIsARivals) {
  EXPECT_FALSE(run(6 * kSlot, kQueue, milliseconds{20}));
  EXPECT_GT(begun_.size(), 1U);
}

TEST_F(RendezvousTest, ItDrainsForTwoRoundTripsAndMore) {
  run(kSlot + seconds{1}, kQueue, milliseconds{0});
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_GT(ended_[0] - begun_[0], 2 * (kMinRtt + kQueue));
  EXPECT_LT(ended_[0] - begun_[0], 4 * (kMinRtt + kQueue));
}

TEST_F(RendezvousTest, ItLeavesTwoPackets) {
  EXPECT_EQ(rendezvous_.limit(20), 20);
  while (!rendezvous_.drains()) run(now_ + milliseconds{1}, kQueue, milliseconds{0});
  EXPECT_EQ(rendezvous_.limit(20), 2);
  rendezvous_.reset();
  EXPECT_EQ(rendezvous_.limit(20), 20);
}

// Whoever has begun when: by the wall clock they drain together.
TEST_F(RendezvousTest, FlowsOfOtherAgesMeet) {
  const Time age = seconds{3};
  rendezvous_ = Rendezvous{age};
  run(kSlot, kQueue, milliseconds{0});
  ASSERT_EQ(begun_.size(), 1U);
  EXPECT_NEAR(in_ms(begun_[0] + age - kSlot), 0, 1);
}

// Of a native sender: nanoseconds since 1970.
TEST_F(RendezvousTest, TheWallClockOfTodayIsNoDifferent) {
  rendezvous_ = Rendezvous{1'000'000'000 * kSlot / 4};
  EXPECT_TRUE(run(kSlot + seconds{1}, kQueue, milliseconds{0}));
}

TEST_F(RendezvousTest, WithLongRoundTripsItMeetsMoreSeldomAtTheSameTimes) {
  min_rtt_ = seconds{1};
  run(2 * kSlot + seconds{1}, kQueue, milliseconds{0});
  ASSERT_EQ(begun_.size(), 1U);
  EXPECT_NEAR(in_ms(begun_[0] - 2 * kSlot), 0, 1);
}

TEST_F(RendezvousTest, EachTimeInVainTheNextOneIsTwiceAsFarUpToFourTimes) {
  run(14 * kSlot, kQueue, kQueue);
  ASSERT_EQ(begun_.size(), 5U);
  for (const auto& [number, slots] : {std::pair{0, 1}, {1, 2}, {2, 4}, {3, 8}, {4, 12}})
    EXPECT_NEAR(in_ms(begun_[number] - slots * kSlot), 0, 1) << number;
}

// 60 of the 100 ms are gone, and the flow's own packets were 10.
TEST_F(RendezvousTest, WhereSomeHaveDrainedTheNextOneIsNotLater) {
  run(6 * kSlot + seconds{1}, kQueue, milliseconds{40});
  EXPECT_EQ(begun_.size(), 6U);
}

// 10 of the 100 ms are gone, as many as the flow's own packets were.
TEST_F(RendezvousTest, ItsOwnDrainAloneIsInVain) {
  run(6 * kSlot + seconds{1}, kQueue, milliseconds{90});
  EXPECT_EQ(begun_.size(), 3U);
}

TEST_F(RendezvousTest, OutOfCompetitiveModeItForgetsThoseInVain) {
  run(2 * kSlot + seconds{1}, kQueue, kQueue);
  rendezvous_.reset();
  begun_.clear();
  run(3 * kSlot + seconds{1}, kQueue, kQueue);
  EXPECT_EQ(begun_.size(), 1U);
}

// A rival with less than a path full of packets leaves no queue either.
TEST_F(RendezvousTest, WhatItsOwnWindowExplainsIsNoSign) {
  cwnd_packets_ = kLargestWindow;
  EXPECT_FALSE(run(6 * kSlot, kQueue, milliseconds{0}));
}

// Someone else's window leaves it empty as well, and is met again soon.
TEST_F(RendezvousTest, AQueueThatIsShorterThanThePathTellsAsWell) {
  EXPECT_TRUE(run(kSlot + seconds{1}, 2 * kMinRtt / 5, milliseconds{0}));
}

// A late-comer took a part of the queue for the path, and 44 of the 140 ms of others are left.
TEST_F(RendezvousTest, APathThatWasNotKnownIsNoSignButTheNextTimeIs) {
  while (!rendezvous_.drains()) run(now_ + milliseconds{1}, kQueue, milliseconds{0});
  min_rtt_ -= milliseconds{6};
  EXPECT_FALSE(run(kSlot + seconds{1}, kQueue, milliseconds{0}));
  EXPECT_TRUE(run(2 * kSlot + seconds{1}, kQueue, milliseconds{0}));
}

// 40 of 140 ms are less than Cubic's cut leaves.
TEST_F(RendezvousTest, WhereHardlyAnythingIsLeftThePathNeedNotBeKnown) {
  while (!rendezvous_.drains()) run(now_ + milliseconds{1}, kQueue, milliseconds{0});
  min_rtt_ -= milliseconds{10};
  EXPECT_TRUE(run(kSlot + seconds{1}, kQueue, milliseconds{0}));
}

// The same with a window that can have been half of the round trip.
TEST_F(RendezvousTest, WhatItsOwnWindowLeavesIsNoSignWhereThePathWasNotKnown) {
  cwnd_packets_ = 110;
  while (!rendezvous_.drains()) run(now_ + milliseconds{1}, kQueue, milliseconds{0});
  min_rtt_ -= milliseconds{10};
  EXPECT_FALSE(run(kSlot + seconds{1}, kQueue, milliseconds{0}));
}

}  // namespace
}  // namespace ccgym
