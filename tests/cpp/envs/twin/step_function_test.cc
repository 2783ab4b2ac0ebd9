#include "envs/twin/step_function.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include "envs/twin/opportunity_cursor.hh"
#include "envs/twin/schedule.hh"

namespace ccgym {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double mean(const StepFunction& function) {
  return std::accumulate(function.values.begin(), function.values.end(), 0.0) /
         static_cast<double>(function.values.size());
}

TEST(StepFunction, AWalkStaysWithinItsBoundsAndMovesByItsSpread) {
  const StepFunction walk = random_walk(10, 100, 0.2, 5, 20, 7, 100'000);
  ASSERT_EQ(walk.values.size(), 1000U);
  EXPECT_DOUBLE_EQ(walk.values.front(), 10);
  EXPECT_TRUE(std::ranges::all_of(walk.values, [](double value) { return value >= 5 && value <= 20; }));
  double squares = 0;
  for (std::size_t i = 1; i < walk.values.size(); ++i)
    squares += std::pow(std::log(walk.values[i] / walk.values[i - 1]), 2);
  EXPECT_NEAR(std::sqrt(squares / 999), 0.2, 0.03);  // less where it is reflected
  EXPECT_EQ(walk.values, random_walk(10, 100, 0.2, 5, 20, 7, 100'000).values);
  EXPECT_NE(walk.values, random_walk(10, 100, 0.2, 5, 20, 8, 100'000).values);
}

TEST(StepFunction, AMarkovChainVisitsEveryValueAndNeverTheSameTwice) {
  const std::vector<double> values{1, 5, 9};
  const StepFunction chain = markov_chain(values, 100, 1, 1e6);
  EXPECT_NEAR(static_cast<double>(chain.values.size()), 10'000, 500);
  EXPECT_EQ(std::ranges::adjacent_find(chain.values), chain.values.end());
  EXPECT_EQ((std::set<double>{chain.values.begin(), chain.values.end()}).size(), 3U);
}

TEST(StepFunction, ACellularRateHasItsMeanAndOutages) {
  const StepFunction rate = cellular_rate(8, 3, 600'000);
  EXPECT_NEAR(mean(rate), 8, 1e-9);
  EXPECT_GT(std::ranges::count(rate.values, 0.0), 50);
}

TEST(StepFunction, ACursorReadsItAgainAndAgain) {
  const StepFunction steps = checked({{0, 10, 15}, {1, 2, 3}, 20});
  StepCursor cursor{steps};
  std::vector<double> read;
  for (const double ms : {0.0, 9.9, 10.0, 15.0, 19.9, 20.0, 31.0, 95.0, 94.0})
    read.push_back(cursor.value_at(ms));
  EXPECT_EQ(read, (std::vector<double>{1, 1, 2, 3, 3, 1, 2, 3, 3}));
}

TEST(StepFunction, RefusesWhatIsNone) {
  EXPECT_THROW(checked({{}, {}, 1}), std::invalid_argument);
  EXPECT_THROW(checked({{0, 1}, {1}, 2}), std::invalid_argument);
  EXPECT_THROW(checked({{1}, {1}, 2}), std::invalid_argument);
  EXPECT_THROW(checked({{0, 5, 5}, {1, 1, 1}, 9}), std::invalid_argument);
  EXPECT_THROW(checked({{0, 5}, {1, 1}, 5}), std::invalid_argument);
  EXPECT_THROW(checked({{0}, {-1}, 5}), std::invalid_argument);
  EXPECT_THROW(checked({{0}, {kNan}, 5}), std::invalid_argument);
  EXPECT_THROW(random_walk(1, 10, 0.1, 2, 3, 1, 100), std::invalid_argument);
  EXPECT_THROW(random_walk(1, kNan, 0.1, 1, 3, 1, 100), std::invalid_argument);
  EXPECT_THROW(random_walk(1, 1e-9, 0.1, 1, 3, 1, 1e9), std::invalid_argument);
  EXPECT_THROW(markov_chain(std::vector<double>{1}, 10, 1, 100), std::invalid_argument);
  EXPECT_THROW(markov_chain(std::vector<double>{1, -1}, 10, 1, 1000), std::invalid_argument);
  EXPECT_THROW(cellular_rate(0, 1, 100), std::invalid_argument);
}

TEST(VaryingSchedule, AConstantRateInOneStepIsTheConstantSchedule) {
  for (const double rate_mbps : {0.57, 12.0, 77.72}) {
    const StepFunction rate{{0}, {rate_mbps}, 60'000};
    const auto lines = Schedule::varying(rate, Schedule::Arrivals::constant, 1)->opportunities_ms();
    const auto constant = Schedule::constant(rate_mbps);
    EXPECT_EQ(static_cast<int64_t>(lines.size()), constant->count_through(60'000));
    OpportunityCursor cursor{constant};
    int64_t apart = 0;  // by a rounding at a whole millisecond at most
    for (const uint32_t line : lines) {
      apart = std::max(apart, std::abs(cursor.next_ns() / kNsPerMs - static_cast<int64_t>(line)));
      cursor.advance();
    }
    EXPECT_LE(apart, 1);
  }
}

TEST(VaryingSchedule, EndsWithItsPeriodThoughTheRateIsZero) {
  const auto schedule = Schedule::varying({{0, 10}, {12, 0}, 100}, Schedule::Arrivals::constant, 1);
  EXPECT_EQ(schedule->period_ms(), 100);
  EXPECT_EQ(schedule->opportunities_per_period(), 11);  // 10, and the one that ends the period
}

TEST(VaryingSchedule, RefusesMoreThanMemoryHolds) {
  EXPECT_THROW(Schedule::varying({{0}, {1e6}, 1e7}, Schedule::Arrivals::constant, 1), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
