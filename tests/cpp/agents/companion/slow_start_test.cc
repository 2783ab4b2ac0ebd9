#include "agents/companion/slow_start.hh"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

const std::array<AckedPacket, 3> kThree{};
const AckEvent kAck{.acked = kThree};
const RttStats kRtt{.latest = milliseconds{20}, .smoothed = milliseconds{20}, .min = milliseconds{20}};

TEST(SlowStart, GrowsByWhatIsAcknowledged) { EXPECT_EQ(SlowStart::grown(kAck, 10), 13); }

TEST(SlowStart, DoesNotGrowWhereTheApplicationLimits) {
  const AckEvent idle{.acked = kThree, .limited_by = Limit::application};
  EXPECT_EQ(SlowStart::grown(idle, 10), 10);
}

TEST(SlowStart, GoesOnWhileTheNetworkWantsMore) {
  SlowStart start;
  start.on_decision(kRtt, 10, 11);
  EXPECT_TRUE(start.on());
}

TEST(SlowStart, EndsWhenTheNetworkWantsNoMore) {
  SlowStart start;
  start.on_decision(kRtt, 10, 10);
  start.on_decision(kRtt, 10, 20);
  EXPECT_FALSE(start.on());
}

TEST(SlowStart, WhatTheNetworkWantsBeforeAnAckSaysNothing) {
  SlowStart start;
  start.on_decision({}, 10, 5);
  EXPECT_TRUE(start.on());
}

TEST(SlowStart, EndsWithALoss) {
  SlowStart start;
  start.on_loss();
  EXPECT_FALSE(start.on());
}

}  // namespace
}  // namespace ccgym
