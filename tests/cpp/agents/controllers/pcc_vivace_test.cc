#include "agents/controllers/pcc/vivace.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/cpp/agents/controllers/scenario.hh"

namespace ccgym {
namespace {

using Utility = Vivace::Utility;

// The result of an interval of 1000 packets on a link of `capacity_mbps` without a queue, which drops the
// excess.
MonitorInterval result_of(const RateLearner::Trial& trial, double capacity_mbps) {
  MonitorInterval result{.trial = trial.id, .rate_mbps = trial.rate_mbps, .sent = 1000, .closed = true};
  result.acked = static_cast<int64_t>(1000 * std::min(1.0, capacity_mbps / trial.rate_mbps));
  result.lost = result.sent - result.acked;
  return result;
}

// Eq. 1 at 10 Mbit/s: 10^0.9 = 7.9433; 900 * 10 * 0.02 = 180; 11.35 * 10 * 0.05 = 5.675.
TEST(Vivace, HasTheUtilityOfThePaper) {
  EXPECT_NEAR(Vivace::utility(Utility::latency, 10, 0, 0), 7.9433, 1e-4);
  EXPECT_NEAR(Vivace::utility(Utility::latency, 10, 0.02, 0), 7.9433 - 180, 1e-4);
  EXPECT_NEAR(Vivace::utility(Utility::latency, 10, -0.02, 0), 7.9433 + 180, 1e-4);
  EXPECT_NEAR(Vivace::utility(Utility::latency, 10, 0, 0.05), 7.9433 - 5.675, 1e-4);
}

TEST(Vivace, IgnoresTheLatencyInTheLossUtilityAndNoiseInBoth) {
  EXPECT_NEAR(Vivace::utility(Utility::loss, 10, 0.5, 0), 7.9433, 1e-4);
  EXPECT_NEAR(Vivace::utility(Utility::latency, 10, 0.009, 0), 7.9433, 1e-4);
}

// Eight RTTs around 100 ms, of departures within 70 ms: a line of slope 0.1 s/s, plus an error with the signs
// + - - + + - - +, which does not change the slope of the regression.
RttLine rtts_off_by(double distance_s) {
  RttLine rtts;
  for (int i = 0; i < 8; ++i) {
    const double sent_s = 0.01 * i;
    rtts.add(sent_s, 0.0965 + 0.1 * sent_s + ((i + 1) % 4 < 2 ? distance_s : -distance_s));
  }
  return rtts;
}

// In an interval of 100 ms this slope raises the RTT by 10 ms.
TEST(Vivace, TakesASlopeWithinTheErrorOfTheFitForNoise) {
  EXPECT_NEAR(Vivace::rtt_slope(rtts_off_by(0)), 0.1, 1e-9);
  EXPECT_NEAR(Vivace::rtt_slope(rtts_off_by(0.0099)), 0.1, 1e-9);
  EXPECT_EQ(Vivace::rtt_slope(rtts_off_by(0.0101)), 0);
}

// Section 4.2: m(tau) = tau to 3, then 2 tau - 3 to 6, then 3 tau - 9; 1 when the sign has changed.
TEST(Vivace, AmplifiesConfidencePiecewiseLinearly) {
  constexpr std::array kExpected{1, 1, 2, 3, 5, 7, 9, 12, 15};
  for (int tau = 0; tau < 9; ++tau)
    EXPECT_EQ(Vivace::confidence_amplifier(tau), kExpected.at(static_cast<std::size_t>(tau)));
}

// The RTT of a link at twice its capacity grows by 1 s/s; at 1.2 times by 0.2, which may be noise.
TEST(Vivace, StartsUntilTheRttGrowsByWhatNoNoiseExplains) {
  Vivace learner{{.utility = Utility::latency}, 1};
  learner.start(1);
  for (const double slope : {0.0, 0.2, 0.5}) {
    const RateLearner::Trial trial = learner.next();
    MonitorInterval result = result_of(trial, /*capacity_mbps=*/100);
    for (const double sent_s : {0.0, 0.05, 0.1}) result.rtts.add(sent_s, 0.1 + slope * sent_s);
    EXPECT_EQ(learner.learn(result), slope == 0.5);
  }
  EXPECT_EQ(learner.rate_mbps(), 2);
}

class VivaceLearning : public testing::Test {
 protected:
  void SetUp() override {
    learner_.start(20);
    learner_.learn(result_of(learner_.next(), 25));
    learner_.learn(result_of(learner_.next(), 25));  // 40 Mbit/s: back to 20
    ASSERT_EQ(learner_.rate_mbps(), 20);
  }
  Vivace learner_{{.utility = Utility::loss}, 1};
};

TEST_F(VivaceLearning, TriesFivePercentToEitherSideThenHoldsTheRate) {
  std::array rates{learner_.next().rate_mbps, learner_.next().rate_mbps};
  std::ranges::sort(rates);
  EXPECT_NEAR(rates[0], 19, 1e-9);
  EXPECT_NEAR(rates[1], 21, 1e-9);
  EXPECT_EQ(learner_.next().rate_mbps, 20);
}

// Section 4.1: gamma = (u(21) - u(19)) / (2 * 0.05 * 20), r + gamma: (21^0.9 - 19^0.9) / 2 = 0.66702.
TEST_F(VivaceLearning, ClimbsTheGradientOfTheUtility) {
  for (int i = 0; i < 2; ++i) {
    const RateLearner::Trial trial = learner_.next();
    learner_.learn(result_of(trial, 100));
  }
  EXPECT_NEAR(learner_.rate_mbps(), 20 + (std::pow(21, 0.9) - std::pow(19, 0.9)) / 2, 1e-9);
}

TEST_F(VivaceLearning, AmplifiesStepsOfTheSameSignAndStartsAnewWhenItTurns) {
  double rate = 20;
  for (const double step : {0.1, 0.1, 0.2, 0.3, 0.5}) {  // 0.1 m(tau)
    learner_.ascend(0.1);
    rate += step;
    EXPECT_NEAR(learner_.rate_mbps(), rate, 1e-9);
  }
  learner_.ascend(-0.1);
  EXPECT_NEAR(learner_.rate_mbps(), rate - 0.1, 1e-9);
}

// Section 4.3: the bound is 5 %, grows by 10 % each time that it is exceeded, and is 5 % again after a turn.
TEST_F(VivaceLearning, BoundsTheChangeDynamically) {
  double rate = 20;
  for (const double bound : {0.05, 0.15, 0.25}) {
    learner_.ascend(100);
    rate *= 1 + bound;
    EXPECT_NEAR(learner_.rate_mbps(), rate, 1e-9);
  }
  learner_.ascend(-100);
  EXPECT_NEAR(learner_.rate_mbps(), rate * 0.95, 1e-9);
}

// Starts at 20 Mbit/s; the RTT slopes are so large that every change exceeds its bound.
class VivaceNoise : public testing::Test {
 protected:
  void SetUp() override {
    learner_.start(20);
    learner_.learn(result_of(learner_.next(), 25));
    learner_.learn(result_of(learner_.next(), 25));
    ASSERT_EQ(learner_.rate_mbps(), 20);
  }
  // One pair of trials, in which the RTT grows by these slopes.
  void try_pair(double slope_of_slower, double slope_of_faster) {
    const double middle_mbps = learner_.rate_mbps();
    for (int i = 0; i < 2; ++i) {
      const RateLearner::Trial trial = learner_.next();
      const double slope = trial.rate_mbps > middle_mbps ? slope_of_faster : slope_of_slower;
      MonitorInterval result = result_of(trial, /*capacity_mbps=*/100);
      for (const double sent_s : {0.0, 0.05, 0.1}) result.rtts.add(sent_s, 0.1 + slope * sent_s);
      learner_.learn(result);
    }
  }
  Vivace learner_{{.utility = Utility::latency}, 1};
};

TEST_F(VivaceNoise, TriesAPairAgainInWhichTheFasterRateLiftsTheRttLess) {
  try_pair(/*slope_of_slower=*/0.2, /*slope_of_faster=*/0.1);
  EXPECT_EQ(learner_.rate_mbps(), 20);
  try_pair(/*slope_of_slower=*/0.1, /*slope_of_faster=*/0.2);  // it was noise: 5 % down, the bound
  EXPECT_NEAR(learner_.rate_mbps(), 19, 1e-9);
}

TEST_F(VivaceNoise, BelievesTheMeanOfTwoSuchPairs) {
  try_pair(/*slope_of_slower=*/0.2, /*slope_of_faster=*/0.1);
  try_pair(/*slope_of_slower=*/0.2, /*slope_of_faster=*/0.1);
  EXPECT_NEAR(learner_.rate_mbps(), 21, 1e-9);
  try_pair(/*slope_of_slower=*/0.2, /*slope_of_faster=*/0.1);  // the next such pair is doubted anew
  EXPECT_NEAR(learner_.rate_mbps(), 21, 1e-9);
}

// Slopes below the filter's 0.01 count as none: the gradient is that of the throughput alone.
TEST_F(VivaceNoise, DoubtsNoSlopesThatCountForNothing) {
  try_pair(/*slope_of_slower=*/0.009, /*slope_of_faster=*/0.001);
  EXPECT_NEAR(learner_.rate_mbps(), 20 + (std::pow(21, 0.9) - std::pow(19, 0.9)) / 2, 1e-9);
}

TEST_F(VivaceNoise, BelievesAPairInWhichTheFasterRateLiftsTheRttMore) {
  try_pair(/*slope_of_slower=*/0.1, /*slope_of_faster=*/0.2);
  EXPECT_NEAR(learner_.rate_mbps(), 19, 1e-9);
}

// Section 6: the link is nearly full, and its queue is short.
TEST(VivaceRun, FillsTheLinkWithAShortQueue) {
  const Measured measured = run_scenario("vivace", {.rate_mbps = 50, .queue_packets = 250});
  EXPECT_GT(measured.mbps, 0.8 * 50);
  EXPECT_LT(measured.p95_delay_ms, 30 + 20);
  EXPECT_LT(measured.lost_share, 0.01);
}

// Reno's share of 50 Mbit/s at 2 % is 1.22 * 1464 * 8 / 60 ms / sqrt(0.02), 1.7 Mbit/s.
TEST(VivaceRun, KeepsManyTimesRenosRateUnderRandomLoss) {
  const Scenario lossy{.rate_mbps = 50, .queue_packets = 250, .loss = 0.02};
  EXPECT_GT(run_scenario("vivace:loss", lossy).mbps, 5 * run_scenario("reno", lossy).mbps);
}

// On a link whose opportunities come at random the RTT has no slope below capacity, and noise enough: the
// rate must not be a random walk. 3 Mbit/s, 260 ms of RTT and the 426 packets of queue are Pantheon's Brazil.
TEST(VivaceRun, KeepsItsRateWhereTheRttIsNoisy) {
  PathSpec path{.delay_ms = 130,
                .uplink = {.schedule = Schedule::poisson(3.04, /*seed=*/1, /*period_ms=*/60'000),
                           .queue = {.kind = "droptail", .packets = 426}},
                .downlink = {.schedule = Schedule::constant(3.04)}};
  double mbps = 0;
  for (const uint64_t seed : {1U, 2U, 3U, 4U})
    mbps += static_cast<double>(simulate(path, "vivace", 60, seed).front().delivered_packets) * 1464 * 8 /
            60e6 / 4;
  EXPECT_GT(mbps, 0.6 * 3.04);  // of thirty seeds the mean is 0.8, the deviation 0.1
}

// While the queue of such a link is full, RTT slopes are noise, which weighs many times as much as the
// losses: the rate still has to fall. X.
TEST(VivaceRun, DoesNotFloodALinkWhoseOpportunitiesComeAtRandom) {
  PathSpec path{.delay_ms = 18, .uplink = {}, .downlink = {.schedule = Schedule::constant(14)}};
  double sent = 0;
  double lost = 0;
  for (const uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    path.uplink = {.schedule = Schedule::poisson(14, seed, /*period_ms=*/60'000),
                   .queue = {.kind = "droptail", .packets = 480}};
    const FlowRecord record = simulate(path, "vivace", /*seconds=*/30, seed).front();
    sent += static_cast<double>(record.sent_packets);
    lost += static_cast<double>(record.lost_packets);
  }
  EXPECT_LT(lost / sent, 0.1);
  EXPECT_GT((sent - lost) * 1464 * 8 / (8 * 30e6), 0.5 * 14);
}

// The share of the smaller of two flows, long after both have started.
double smaller_part(uint64_t seed) {
  const auto schedule = Schedule::constant(50);
  PathSpec path{.delay_ms = 10,
                .uplink = {.schedule = schedule, .queue = {.kind = "droptail", .packets = 91}},
                .downlink = {.schedule = schedule}};
  path.flows = {{.scheme = "vivace"}, {.scheme = "vivace", .start_s = 5}};
  std::array<double, 2> packets{};
  const std::vector<FlowRecord> records = simulate(path, "", /*seconds=*/40, seed);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto late = [](double ms) { return ms > 20e3; };
    packets.at(i) = static_cast<double>(std::ranges::count_if(records[i].departure_ms, late));
  }
  return std::min(packets[0], packets[1]) / (packets[0] + packets[1]);
}

// Section 6: Vivace flows converge to a fair share. The mean is checked, because single runs have 0.2 to 0.5.
TEST(VivaceRun, SharesALinkWithItself) {
  double sum = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) sum += smaller_part(seed);
  EXPECT_GT(sum / 8, 0.4);
}

}  // namespace
}  // namespace ccgym
