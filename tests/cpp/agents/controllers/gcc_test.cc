#include "agents/controllers/gcc/gcc.hh"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/cpp/agents/controllers/changing_path.hh"
#include "tests/cpp/agents/controllers/scenario.hh"
#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Section 5.3 with var_v = 1, e = 0.1, q = 0.001: k = 0.101 / 1.101, m = k z.
TEST(ArrivalFilter, TakesKalmansFirstStep) {
  ArrivalFilter filter;
  EXPECT_NEAR(filter.update(1, 20), 0.101 / 1.101, 1e-9);
}

// An outlier counts as 3 sqrt(var_v) = 3 in the noise: var_v = alpha + (1 - alpha) 3^2 with
// alpha = 0.99^(30/50) of groups 50 a second, k = 0.101 / (var_v + 0.101), m = k z.
TEST(ArrivalFilter, BoundsAnOutlier) {
  ArrivalFilter filter;
  const double alpha = std::pow(0.99, 30.0 / 50);
  const double variance = alpha + (1 - alpha) * 9;
  EXPECT_NEAR(filter.update(10, 20), 10 * 0.101 / (variance + 0.101), 1e-9);
}

// f_max is the highest rate of the last 60 groups: one gap of 10 ms among gaps of 20 ms keeps alpha at
// 0.99^(30/100), and a second outlier moves var_v by less than in the filter that never saw it.
TEST(ArrivalFilter, ForgetsItsClosestGroupsAfterSixty) {
  const auto after_outlier = [](int groups_since) {
    ArrivalFilter filter;
    filter.update(0, 10);
    for (int i = 0; i < groups_since; ++i) filter.update(0, 20);
    return filter.update(10, 20);
  };
  const auto never_close = [](int groups) {
    ArrivalFilter filter;
    for (int i = 0; i < groups; ++i) filter.update(0, 20);
    return filter.update(10, 20);
  };
  EXPECT_GT(after_outlier(58), never_close(59) * (1 + 1e-6));
  EXPECT_EQ(after_outlier(59), never_close(60));
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

// overuse_time_th = 10 ms from the first estimate above the threshold, however long its group took.
TEST(OveruseDetector, CountsFromTheFirstEstimateAboveTheThreshold) {
  OveruseDetector detector;
  EXPECT_EQ(detect_after(detector, 60, 0, milliseconds{0}), LinkUse::normal);
  EXPECT_EQ(detect_after(detector, 60, 0.3, milliseconds{50}), LinkUse::normal);
  EXPECT_EQ(detect_after(detector, 60, 0.4, milliseconds{60}), LinkUse::over);
}

// [6, 600]: 12.5 ms falls by at most 100 ms * 0.00018 = 1.8 % a group, to 6 ms after 41 of them.
TEST(OveruseDetector, KeepsItsThresholdAboveSixMilliseconds) {
  OveruseDetector detector;
  for (int i = 0; i < 41; ++i) detect_after(detector, 60, 0, milliseconds{100 * i});
  EXPECT_NEAR(detector.threshold_ms(), 12.5 * std::pow(1 - 100 * 0.00018, 40), 1e-9);
  for (int i = 41; i < 60; ++i) detect_after(detector, 60, 0, milliseconds{100 * i});
  EXPECT_EQ(detector.threshold_ms(), 6);
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

// beta = 0.85 of the incoming rate, then a hold before the next increase.
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

// Half a packet per response time of 200 ms, in one step or in two.
TEST(DelayBasedRate, GrowsNoFasterForBeingAskedMoreOften) {
  DelayBasedRate rate{2};
  const DelayBasedRate::Conditions near{.incoming_mbps = 1.6, .rtt = milliseconds{100}};
  rate.update(seconds{1}, LinkUse::over, near);
  rate.update(seconds{2}, LinkUse::normal, near);
  for (int i = 1; i <= 40; ++i) rate.update(seconds{2} + milliseconds{5 * i}, LinkUse::normal, near);
  EXPECT_NEAR(rate.rate_mbps(), 1.36 + 0.5 * 9066.7e-6, 1e-5);
}

// Three deviations of 0.4 kbit/s * 1600 kbit/s, 3 * 25.3 = 76 kbit/s: 1.5 Mbit/s is far below, 1.7 far above.
TEST(DelayBasedRate, GrowsByEightPercentBeyondThreeDeviationsOfItsDecreases) {
  for (const double incoming_mbps : {1.5, 1.7}) {
    DelayBasedRate rate{2};
    rate.update(seconds{1}, LinkUse::over, {.incoming_mbps = 1.6});
    rate.update(seconds{2}, LinkUse::normal, {.incoming_mbps = 1.6});
    rate.update(seconds{3}, LinkUse::normal, {.incoming_mbps = incoming_mbps});
    EXPECT_NEAR(rate.rate_mbps(), 1.36 * 1.08, 1e-9);
  }
}

// Above them the capacity has changed, and its former mean is forgotten.
TEST(DelayBasedRate, ForgetsItsDecreasesWhenMoreComesIn) {
  DelayBasedRate rate{2};
  rate.update(seconds{1}, LinkUse::over, {.incoming_mbps = 1.6});
  rate.update(seconds{2}, LinkUse::normal, {.incoming_mbps = 1.6});
  rate.update(seconds{3}, LinkUse::normal, {.incoming_mbps = 1.7});
  rate.update(seconds{4}, LinkUse::normal, {.incoming_mbps = 1.6});
  EXPECT_NEAR(rate.rate_mbps(), 1.36 * 1.08 * 1.08, 1e-9);
}

// Section 5.5, the table of transitions: from hold under-use stays, normal use increases, over-use decreases;
// decrease stays at over-use only.
TEST(DelayBasedRate, FollowsTheTableOfStates) {
  DelayBasedRate rate{1};
  rate.update(seconds{1}, LinkUse::under, {.incoming_mbps = 1});  // increase -> hold
  rate.update(seconds{2}, LinkUse::under, {.incoming_mbps = 1});  // hold
  EXPECT_EQ(rate.rate_mbps(), 1);
  rate.update(seconds{3}, LinkUse::normal, {.incoming_mbps = 1});  // hold -> increase
  EXPECT_NEAR(rate.rate_mbps(), 1.08, 1e-9);
  rate.update(seconds{4}, LinkUse::over, {.incoming_mbps = 1});  // increase -> decrease
  rate.update(seconds{5}, LinkUse::over, {.incoming_mbps = 0.8});
  EXPECT_NEAR(rate.rate_mbps(), 0.85 * 0.8, 1e-9);
  rate.update(seconds{6}, LinkUse::under, {.incoming_mbps = 0.8});  // decrease -> hold
  EXPECT_NEAR(rate.rate_mbps(), 0.85 * 0.8, 1e-9);
  rate.update(seconds{7}, LinkUse::over, {.incoming_mbps = 0.7});  // hold -> decrease
  EXPECT_NEAR(rate.rate_mbps(), 0.85 * 0.7, 1e-9);
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

// 3 of 20 packets lost: 0.3 (1 - 0.15 / 2) Mbit/s. The packets are one group, so that there is no delay
// estimate.
TEST(Gcc, HearsOfLossesFromReportsOfTwentyPackets) {
  constexpr int64_t kPacketBytes = 1000;
  Gcc gcc{kPacketBytes};
  const std::array<LostPacket, 3> lost{};
  report_losses(gcc, milliseconds{1}, {.packets = lost});
  for (int i = 0; i < 16; ++i)
    report_ack(gcc, milliseconds{200}, {.bytes = kPacketBytes, .sent_at = Time{}, .received_at = Time{}});
  EXPECT_EQ(gcc.limits().pacing_rate->mbps(), 0.3);
  report_ack(gcc, milliseconds{200}, {.bytes = kPacketBytes, .sent_at = Time{}, .received_at = Time{}});
  EXPECT_NEAR(gcc.limits().pacing_rate->mbps(), 0.3 * (1 - 0.5 * 3 / 20), 1e-9);
}

// From 0.3 Mbit/s by 8 % a second: 0.3 * 1.08^35 = 4.4 Mbit/s after 35 s, with hardly any queue.
TEST(GccRun, FillsASlowLinkWithoutAQueue) {
  const Measured measured = run_scenario("gcc", {.rate_mbps = 1, .seconds = 40, .start_up_seconds = 20});
  EXPECT_GT(measured.mbps, 0.75 * 1);
  EXPECT_LT(measured.p95_delay_ms, 30 + 150);
}

// After a pause of a second the incoming rate is measured anew, and does not fall because of the pause.
TEST(GccRun, KeepsItsRateOverAPause) {
  FlowOnChangingPath flow{"gcc", {.offers = [](double s, int64_t) { return s < 60 || s > 61; }}};
  flow.run_until(60);
  const double before_mbps = flow.controller().limits().pacing_rate->mbps();
  ASSERT_GT(before_mbps, 0.7 * 8);
  flow.run_until(62);
  EXPECT_GT(flow.controller().limits().pacing_rate->mbps(), 0.7 * before_mbps);
}

// On a path with an RTT of 5 s, a window of two seconds would limit the flow to less than half of its rate.
TEST(GccRun, IsPacedAndNotHeldByAWindowOnALongPath) {
  Gcc gcc{1000};
  const std::array<LostPacket, 1> lost{};
  gcc.on_ack(seconds{5}, {.lost = lost, .rtt = {.smoothed = seconds{5}}});
  const SendLimits limits = gcc.limits();
  EXPECT_NEAR(static_cast<double>(limits.cwnd_bytes), limits.pacing_rate->bytes_in(seconds{10}), 1);
}

}  // namespace
}  // namespace ccgym
