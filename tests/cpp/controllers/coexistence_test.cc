#include "agents/controllers/policy/coexistence.hh"

#include <gtest/gtest.h>

#include <cmath>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr RttStats kStanding{milliseconds{64}, milliseconds{64}, milliseconds{40}};

TEST(Coexistence, TheNetworkAloneDecidesBeforeTheFirstAck) {
  Coexistence coexistence;
  EXPECT_EQ(coexistence.window(milliseconds{10}, {}, 10, 20), 20);
}

// 16 packets in 64 ms: the root of 0.25 packets per ms, twice.
TEST(Coexistence, AFlowKeepsPacketsOfItsOwnInTheQueue) {
  Coexistence coexistence;
  EXPECT_DOUBLE_EQ(coexistence.window(milliseconds{10}, kStanding, 16, 20), 21);
}

TEST(Coexistence, ADrainLimitsTheWindowAndMakesTheNetworkWait) {
  Coexistence coexistence;
  for (Time now{}; now < milliseconds{1000}; now += milliseconds{10}) coexistence.on_ack(now, kStanding, 64);
  EXPECT_NEAR(coexistence.limit(64), 0.85 * 40, 1e-9);
  EXPECT_EQ(coexistence.window(milliseconds{1000}, kStanding, 64, 20), 64);
}

}  // namespace
}  // namespace ccgym
