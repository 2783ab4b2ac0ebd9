#include "transport/windowed_filter.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

TEST(WindowedFilter, FollowsABetterValueAtOnce) {
  WindowedMin<int> minimum;
  EXPECT_TRUE(minimum.empty());
  minimum.update(milliseconds{0}, 5, milliseconds{100});
  minimum.update(milliseconds{1}, 3, milliseconds{100});
  minimum.update(milliseconds{2}, 9, milliseconds{100});
  EXPECT_EQ(minimum.best(), 3);
}

TEST(WindowedFilter, ForgetsAValueThatLeftTheWindow) {
  WindowedMax<int> maximum;
  maximum.update(milliseconds{0}, 9, milliseconds{100});
  maximum.update(milliseconds{50}, 7, milliseconds{100});
  maximum.update(milliseconds{100}, 1, milliseconds{100});
  EXPECT_EQ(maximum.best(), 9);  // exactly one window old: still in it
  maximum.update(milliseconds{101}, 2, milliseconds{100});
  EXPECT_EQ(maximum.best(), 7);
}

TEST(WindowedFilter, ForgetsAllAfterASilenceLongerThanTheWindow) {
  WindowedMin<int> minimum;
  minimum.update(milliseconds{0}, 1, milliseconds{100});
  minimum.update(milliseconds{500}, 8, milliseconds{100});
  EXPECT_EQ(minimum.best(), 8);
}

TEST(WindowedFilter, ForgetsSoonerWhenTheWindowShrinks) {
  WindowedMin<int> minimum;
  minimum.update(milliseconds{0}, 1, milliseconds{100});
  minimum.update(milliseconds{20}, 4, milliseconds{100});
  minimum.update(milliseconds{30}, 6, milliseconds{15});
  EXPECT_EQ(minimum.best(), 4);
}

using Samples = std::vector<std::pair<Time, int>>;

int exact_minimum(const Samples& samples, Time since) {
  int minimum = std::numeric_limits<int>::max();
  for (const auto& [at, value] : samples) minimum = at >= since ? std::min(minimum, value) : minimum;
  return minimum;
}

// As the header says: the best value of the last w, with window * 15/16 <= w <= window.
TEST(WindowedFilter, IsTheMinimumOfAWindowThatIsAtMostASixteenthTooShort) {
  std::mt19937 random{1};
  const Time window = milliseconds{64};
  WindowedMin<int> minimum;
  Samples samples;
  Time now{};
  for (int i = 0; i < 5000; ++i) {
    now += std::chrono::microseconds{random() % 2000};
    const int trend = i / 100 % 2 == 0 ? i % 100 : 100 - i % 100;  // rising values are the hard case
    samples.emplace_back(now, trend + static_cast<int>(random() % 20));
    minimum.update(now, samples.back().second, window);
    if (samples.size() > 1000) samples.erase(samples.begin(), samples.begin() + 500);
    EXPECT_GE(minimum.best(), exact_minimum(samples, now - window));
    EXPECT_LE(minimum.best(), exact_minimum(samples, now - window + window / 16));
  }
}

}  // namespace
}  // namespace ccgym
