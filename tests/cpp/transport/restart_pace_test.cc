#include "transport/restart_pace.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kWindowBytes = 80'000;
constexpr Time kRtt = milliseconds{40};
constexpr Time kBegin = milliseconds{1000};
const std::optional<Rate> kNone{};

// Packet 100 ends an idle time: 80 kB in 40 ms are 16 Mbit/s.
RestartPace begun() {
  RestartPace pace;
  pace.begin(kBegin, 100, kWindowBytes, kRtt);
  return pace;
}

TEST(RestartPace, SpreadsNothingBeforeAnIdleTime) { EXPECT_EQ(RestartPace{}.rate(Time{}, 50, kNone), kNone); }

TEST(RestartPace, TheInitialWindowLeavesAtOnceAndTheRestInARoundTrip) {
  const RestartPace pace = begun();
  EXPECT_EQ(pace.rate(kBegin, 109, kNone), kNone);
  const std::optional<Rate> rate = pace.rate(kBegin, 110, kNone);
  ASSERT_TRUE(rate);
  EXPECT_DOUBLE_EQ(rate->mbps(), 16);
}

TEST(RestartPace, EndsWithTheRoundTrip) {
  const RestartPace pace = begun();
  EXPECT_TRUE(pace.rate(kBegin + kRtt - Time{1}, 110, kNone));
  EXPECT_EQ(pace.rate(kBegin + kRtt, 110, kNone), kNone);
}

TEST(RestartPace, LeavesAloneWhoPacesHimself) {
  const std::optional<Rate> own = Rate::from_mbps(3);
  EXPECT_EQ(begun().rate(kBegin, 110, own), own);
}

}  // namespace
}  // namespace ccgym
