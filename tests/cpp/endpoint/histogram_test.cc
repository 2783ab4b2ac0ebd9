#include "deploy/endpoint/histogram.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

double relative_error(Time value, double expected_ns) {
  return std::abs(static_cast<double>(value.count()) / expected_ns - 1);
}

TEST(DurationHistogram, FindsQuantilesWithinOnePercent) {
  DurationHistogram histogram;
  for (int64_t i = 1; i <= 100'000; ++i) histogram.add(Time{i * 1000});
  EXPECT_EQ(histogram.count(), 100'000U);
  for (const double share : {0.01, 0.5, 0.95, 0.99, 1.0})
    EXPECT_LT(relative_error(histogram.quantile(share), share * 1e8), 0.01) << share;
}

TEST(DurationHistogram, IsExactForTinyDurations) {
  DurationHistogram histogram;
  for (const int64_t ns : {0, 1, 2, 63, 127}) histogram.add(Time{ns});
  EXPECT_EQ(histogram.quantile(0.2), Time{0});
  EXPECT_EQ(histogram.quantile(0.6), Time{2});
  EXPECT_EQ(histogram.quantile(0.8), Time{63});
  EXPECT_EQ(histogram.quantile(1.0), Time{127});
}

TEST(DurationHistogram, HoldsTheLongestTime) {
  DurationHistogram histogram;
  histogram.add(Time::max());
  EXPECT_LT(relative_error(histogram.quantile(0.5), static_cast<double>(Time::max().count())), 0.01);
}

TEST(DurationHistogram, IsZeroWhenEmpty) { EXPECT_EQ(DurationHistogram{}.quantile(0.5), Time::zero()); }

}  // namespace
}  // namespace ccgym
