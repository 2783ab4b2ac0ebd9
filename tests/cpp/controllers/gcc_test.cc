#include "agents/controllers/gcc/gcc.hh"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/cpp/controllers/scenario.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Section 5.3 with var_v = 1, e = 0.1, q = 0.001: k = 0.101 / 1.101, m = k z.
TEST(ArrivalFilter, TakesKalmansFirstStep) {
  ArrivalFilter filter;
  EXPECT_NEAR(filter.update(1, 20), 0.101 / 1.101, 1e-9);
}

TEST(ArrivalFilter, ConvergesToAConstantGradient) {
  ArrivalFilter filter;
  double gradient_ms = 0;
  for (int i = 0; i < 300; ++i) gradient_ms = filter.update(1.5, 20);
  EXPECT_NEAR(gradient_ms, 1.5, 0.01);
}

// Groups 20 ms apart, each of packets 1 ms apart, which arrive 21 ms apart: 1 ms more of queue per group.
TEST(ArrivalFilter, GroupsThePacketsOfABurst) {
  ArrivalFilter filter;
  int estimates = 0;
  double gradient_ms = 0;
  for (int group = 0; group < 100; ++group) {
    for (int packet = 0; packet < 3; ++packet) {
      const auto estimate =
          filter.add(milliseconds{20 * group + packet}, milliseconds{50 + 21 * group + packet});
      if (estimate) {
        ++estimates;
        gradient_ms = estimate->gradient_ms;
      }
    }
  }
  EXPECT_EQ(estimates, 98);  // none for the first group, and the last one is still open
  EXPECT_NEAR(gradient_ms, 1, 0.05);
}

LinkUse detect_after(OveruseDetector& detector, int groups, double gradient_ms, milliseconds at) {
  return detector.detect({.arrived_at = at, .gradient_ms = gradient_ms, .groups = groups});
}

// 60 groups of 0.3 ms: 18 ms is above the first threshold of 12.5 ms; over-use once it lasts beyond 10 ms.
TEST(OveruseDetector, WantsTheEstimateAboveTheThresholdForTenMilliseconds) {
  OveruseDetector detector;
  EXPECT_EQ(detect_after(detector, 60, 0.3, milliseconds{0}), LinkUse::normal);
  EXPECT_EQ(detect_after(detector, 60, 0.3, milliseconds{9}), LinkUse::normal);
  EXPECT_EQ(detect_after(detector, 60, 0.3, milliseconds{18}), LinkUse::over);
  EXPECT_EQ(detect_after(detector, 60, 0.28, milliseconds{27}), LinkUse::normal);  // it falls
}

TEST(OveruseDetector, FindsUnderuse) {
  OveruseDetector detector;
  EXPECT_EQ(detect_after(detector, 60, -0.3, milliseconds{0}), LinkUse::under);
}

// del_var_th += dt K (|m| - del_var_th): 20 ms * 0.01 * (18 - 12.5) = 1.1 up, 20 * 0.00018 * (0 - 13.6) down.
TEST(OveruseDetector, AdaptsItsThreshold) {
  OveruseDetector detector;
  detect_after(detector, 60, 0.3, milliseconds{0});
  detect_after(detector, 60, 0.3, milliseconds{20});
  EXPECT_NEAR(detector.threshold_ms(), 13.6, 1e-9);
  detect_after(detector, 60, 0, milliseconds{40});
  EXPECT_NEAR(detector.threshold_ms(), 13.6 - 20 * 0.00018 * 13.6, 1e-9);
  detect_after(detector, 60, 1, milliseconds{60});  // a spike of 60 ms does not count
  EXPECT_NEAR(detector.threshold_ms(), 13.6 - 20 * 0.00018 * 13.6, 1e-9);
}

// eta = 1.08 per second.
TEST(DelayBasedRate, GrowsByEightPercentASecond) {
  DelayBasedRate rate{1};
  rate.update(seconds{1}, LinkUse::normal, {.incoming_mbps = 1});
  EXPECT_NEAR(rate.rate_mbps(), 1.08, 1e-9);
  rate.update(milliseconds{1500}, LinkUse::normal, {.incoming_mbps = 1});
  EXPECT_NEAR(rate.rate_mbps(), 1.08 * std::sqrt(1.08), 1e-9);
}

TEST(DelayBasedRate, NeverExceedsTheIncomingRateByMoreThanHalf) {
  DelayBasedRate rate{2};
  rate.update(seconds{1}, LinkUse::normal, {.incoming_mbps = 1});
  EXPECT_EQ(rate.rate_mbps(), 1.5);
}

// beta = 0.85 of what comes in, then a hold before the next increase.
TEST(DelayBasedRate, FallsBelowTheIncomingRateOnOveruseAndHolds) {
  DelayBasedRate rate{2};
  rate.update(seconds{1}, LinkUse::over, {.incoming_mbps = 1.6});
  EXPECT_NEAR(rate.rate_mbps(), 0.85 * 1.6, 1e-9);
  rate.update(seconds{2}, LinkUse::normal, {.incoming_mbps = 1.6});
  EXPECT_NEAR(rate.rate_mbps(), 0.85 * 1.6, 1e-9);
}

// Near the rate of the last decrease: alpha = 0.5 * min(1 s / 0.2 s, 1), of a packet. 1.36 Mbit/s are frames
// of 45333 bits in 5 packets: 0.5 * 9066.7 bits a second.
TEST(DelayBasedRate, GrowsByHalfAPacketNearConvergence) {
  DelayBasedRate rate{2};
  rate.update(seconds{1}, LinkUse::over, {.incoming_mbps = 1.6});
  rate.update(seconds{2}, LinkUse::normal, {.incoming_mbps = 1.6});
  rate.update(seconds{3}, LinkUse::normal, {.incoming_mbps = 1.6, .rtt = milliseconds{100}});
  EXPECT_NEAR(rate.rate_mbps(), 1.36 + 0.5 * 9066.7e-6, 1e-6);
}

TEST(DelayBasedRate, HoldsOnUnderuse) {
  DelayBasedRate rate{1};
  rate.update(seconds{1}, LinkUse::under, {.incoming_mbps = 1});
  EXPECT_EQ(rate.rate_mbps(), 1);
}

// Section 6.
TEST(LossBasedRate, FollowsTheShareThatIsLost) {
  LossBasedRate rate{1};
  rate.update(0.2);
  EXPECT_NEAR(rate.rate_mbps(), 0.9, 1e-9);
  rate.update(0.05);
  EXPECT_NEAR(rate.rate_mbps(), 0.9, 1e-9);
  rate.update(0.01);
  EXPECT_NEAR(rate.rate_mbps(), 0.945, 1e-9);
}

// From 0.3 Mbit/s by 8 % a second: 0.3 * 1.08^35 = 4.4 Mbit/s after 35 s, with hardly any queue.
TEST(GccFlight, FillsASlowLinkWithoutAQueue) {
  const Measured flight = fly_scenario("gcc", {.rate_mbps = 1, .seconds = 40, .start_up_seconds = 20});
  EXPECT_GT(flight.mbps, 0.75 * 1);
  EXPECT_LT(flight.p95_delay_ms, 30 + 150);
}

}  // namespace
}  // namespace ccgym
