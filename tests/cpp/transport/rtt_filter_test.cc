#include "transport/rtt_filter.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

TEST(RttFilter, WaitsOneSecondBeforeTheFirstSample) {
  EXPECT_EQ(RttFilter{}.probe_timeout(), Time{milliseconds{1000}});  // RFC 6298 (2.1)
}

TEST(RttFilter, FirstSampleSetsEveryStatistic) {
  RttFilter filter;
  filter.add(milliseconds{80});
  EXPECT_EQ(filter.stats().latest, Time{milliseconds{80}});
  EXPECT_EQ(filter.stats().smoothed, Time{milliseconds{80}});
  EXPECT_EQ(filter.stats().min, Time{milliseconds{80}});
  EXPECT_EQ(filter.probe_timeout(), Time{milliseconds{240}});  // 80 + 4 * 80 / 2
}

TEST(RttFilter, SmoothsByAnEighthAndVariesByAQuarter) {
  RttFilter filter;
  filter.add(milliseconds{400});
  filter.add(milliseconds{480});
  // RTTVAR = 200 + (80 - 200) / 4 = 170 ms; SRTT = 400 + 80 / 8 = 410 ms; PTO = 410 + 4 * 170 = 1090 ms.
  EXPECT_EQ(filter.stats().smoothed, Time{milliseconds{410}});
  EXPECT_EQ(filter.probe_timeout(), Time{milliseconds{1090}});
}

// RFC 9002, kGranularity.
TEST(RttFilter, WaitsAMillisecondMoreThanAConstantRtt) {
  RttFilter filter;
  for (int i = 0; i < 100; ++i) filter.add(milliseconds{50});
  EXPECT_EQ(filter.probe_timeout(), Time{milliseconds{51}});
}

TEST(RttFilter, MinimumOnlyFalls) {
  RttFilter filter;
  for (const int ms : {50, 70, 40, 90}) filter.add(milliseconds{ms});
  EXPECT_EQ(filter.stats().min, Time{milliseconds{40}});
  EXPECT_EQ(filter.stats().latest, Time{milliseconds{90}});
}

}  // namespace
}  // namespace ccgym
