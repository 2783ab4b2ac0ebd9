#include "envs/twin/schedule.hh"

#include <gtest/gtest.h>

#include <stdexcept>

#include "envs/twin/opportunity_cursor.hh"

namespace ccgym {
namespace {

std::vector<int64_t> first(const std::shared_ptr<const Schedule>& schedule, int count) {
  OpportunityCursor cursor{schedule};
  std::vector<int64_t> times;
  for (; count > 0; --count, cursor.advance()) times.push_back(cursor.next_ns() / kNsPerMs);
  return times;
}

TEST(Schedule, TwelveMbpsIsOneOpportunityAMillisecond) {
  EXPECT_EQ(Schedule::constant(12)->opportunities_ms(), (std::vector<uint32_t>{1}));
  EXPECT_EQ(first(Schedule::constant(12), 3), (std::vector<int64_t>{1, 2, 3}));
}

TEST(Schedule, ConstantRateIsSpreadEvenlyAndRoundedUp) {
  // 5 Mbit/s: 25,000 a minute, one per 2.4 ms: ceil(2.4 i).
  EXPECT_EQ(first(Schedule::constant(5), 6), (std::vector<int64_t>{3, 5, 8, 10, 12, 15}));
  EXPECT_DOUBLE_EQ(Schedule::constant(5)->mean_rate_mbps(), 5);
}

TEST(Schedule, TheTraceOfAConstantRateGivesTheSameTimes) {
  for (const double rate_mbps : {0.57, 5.0, 77.72, 100.42, 200.0}) {
    const auto constant = Schedule::constant(rate_mbps);
    EXPECT_EQ(first(constant, 5000), first(Schedule::trace(constant->opportunities_ms()), 5000)) << rate_mbps;
  }
}

TEST(Schedule, ATraceRepeatsFromItsLastTimestampAsMahimahiDoes) {
  EXPECT_EQ(first(Schedule::trace({0, 3, 3, 10}), 9),
            (std::vector<int64_t>{0, 3, 3, 10, 10, 13, 13, 20, 20}));
}

TEST(Schedule, OneThatBeginsElsewhereGivesWhatIsLeftAndThenBeginsAnew) {
  for (const auto& whole :
       {Schedule::constant(5), Schedule::trace({0, 3, 3, 10}), Schedule::poisson(7, 3, 500)}) {
    for (const int64_t begin_ms : {1, 3, 9, 250, 12345}) {
      const auto later = whole->beginning_at(begin_ms);
      OpportunityCursor cursor{whole};
      cursor.skip_through(begin_ms * kNsPerMs);
      OpportunityCursor skipping{later};
      for (const int64_t at : first(later, 400)) {
        EXPECT_EQ(at + begin_ms, cursor.next_ns() / kNsPerMs);
        cursor.advance();
      }
      EXPECT_EQ(later->count_through(7000),
                whole->count_through(7000 + begin_ms) - whole->count_through(begin_ms));
      skipping.skip_through(6'999'999'999);
      EXPECT_EQ(skipping.next_ns() / kNsPerMs, later->last_through(skipping.next_ns() / kNsPerMs));
    }
  }
  EXPECT_THROW(static_cast<void>(Schedule::trace({1, 2}, Schedule::Ending::once)->beginning_at(1)),
               std::invalid_argument);
}

TEST(Schedule, AConstantRateIsOneWhereverItBegins) {
  const auto later = Schedule::constant(7.3)->beginning_at(12345);
  EXPECT_TRUE(later->is_constant()) << "in continuous timing its packets are served as they come";
  EXPECT_TRUE(later->timestamps().empty()) << "a minute of 1 Gbit/s would be 5 million of them";
  EXPECT_EQ(later->mean_rate_mbps(), 7.3);
}

TEST(Schedule, SkippingLandsWhereAdvancingWould) {
  for (const auto& schedule : {Schedule::trace({0, 3, 3, 10}), Schedule::trace({5}), Schedule::constant(7.3),
                               Schedule::constant(100.42), Schedule::poisson(3, 1, 1000),
                               Schedule::poisson(3, 1, 1000, Timing::continuous)}) {
    for (int64_t ms = 0; ms < 200; ++ms) {
      OpportunityCursor walked{schedule};
      while (walked.next_ns() <= ms * kNsPerMs) walked.advance();
      OpportunityCursor skipped{schedule};
      skipped.skip_through(ms * kNsPerMs);
      for (int i = 0; i < 5; ++i, walked.advance(), skipped.advance())
        ASSERT_EQ(skipped.next_ns(), walked.next_ns());
    }
  }
}

TEST(Schedule, CountsWhatACursorVisits) {
  for (const auto& schedule : {Schedule::trace({0, 3, 3, 10}), Schedule::constant(7.3)}) {
    for (int64_t ms = 0; ms < 60; ++ms) {
      OpportunityCursor cursor{schedule};
      int64_t visited = 0;
      for (; cursor.next_ns() <= ms * kNsPerMs; cursor.advance()) ++visited;
      ASSERT_EQ(schedule->count_through(ms), visited) << ms;
    }
  }
}

TEST(Schedule, PoissonHasTheRateAndTheSpreadOfItsName) {
  const auto lines = Schedule::poisson(3.04, 7, 60'000)->opportunities_ms();
  EXPECT_NEAR(static_cast<double>(lines.size()), 15'200, 500);  // sd of the count: sqrt(15200) = 123
  EXPECT_EQ(lines.back(), 60'000U);
  EXPECT_EQ(lines, Schedule::poisson(3.04, 7, 60'000)->opportunities_ms());
  EXPECT_NE(lines, Schedule::poisson(3.04, 8, 60'000)->opportunities_ms());
}

TEST(Schedule, InContinuousTimingWhatIsDrawnIsNotCutToWholeMilliseconds) {
  const auto exact = Schedule::poisson(12, 7, 60'000, Timing::continuous);
  const auto cut = Schedule::poisson(12, 7, 60'000);
  EXPECT_EQ(exact->opportunities_ms(), cut->opportunities_ms());
  EXPECT_EQ(exact->period_ms(), 60'000);
  EXPECT_DOUBLE_EQ(exact->mean_rate_mbps(), cut->mean_rate_mbps());
  int64_t fractions = 0;
  OpportunityCursor cursor{exact};
  for (int i = 0; i < 1000; ++i, cursor.advance()) fractions += cursor.next_ns() % kNsPerMs != 0 ? 1 : 0;
  EXPECT_GT(fractions, 990);  // of us, one in a thousand is a whole ms
}

TEST(Schedule, InContinuousTimingAVaryingRateIsEvenToTheMicrosecond) {
  const StepFunction rate{{0, 1000}, {6, 12}, 2000};
  const auto schedule = Schedule::varying(rate, Schedule::Arrivals::constant, 1, Timing::continuous);
  OpportunityCursor cursor{schedule};
  for (int64_t i = 1; i < 400; ++i, cursor.advance())
    ASSERT_NEAR(static_cast<double>(cursor.next_ns()), static_cast<double>(i) * 2e6, 1000.0) << i;
}

TEST(Schedule, APeriodThatIsTooLongForItsTicksIsRefused) {
  EXPECT_NO_THROW(Schedule::poisson(0.001, 1, 3'600'000, Timing::continuous));
  EXPECT_THROW(Schedule::poisson(0.001, 1, 5'000'000, Timing::continuous), std::invalid_argument);
  EXPECT_THROW(Schedule::poisson(1, 1, 0), std::invalid_argument);
}

TEST(Schedule, RefusesWhatIsNoTrace) {
  EXPECT_THROW(Schedule::trace({}), std::invalid_argument);
  EXPECT_THROW(Schedule::trace({0, 0}), std::invalid_argument);
  EXPECT_THROW(Schedule::trace({3, 2}), std::invalid_argument);
  for (const double rate_mbps : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), 1e9}) {
    EXPECT_THROW(Schedule::constant(rate_mbps), std::invalid_argument);
    EXPECT_THROW(Schedule::poisson(rate_mbps, 1, 1000), std::invalid_argument);
  }
}

}  // namespace
}  // namespace ccgym
