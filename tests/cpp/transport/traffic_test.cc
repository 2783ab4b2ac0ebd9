#include "transport/traffic.hh"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TrafficSpec spells_of(Time mean_on, Time mean_off) {
  return {.mean_on = mean_on, .mean_off = mean_off};
}

TEST(Traffic, AtFullThrottleThereIsAlwaysOneMore) {
  Traffic traffic;
  EXPECT_TRUE(traffic.endless());
  EXPECT_TRUE(traffic.offers(seconds{0}, 0, 0));
  EXPECT_TRUE(traffic.offers(seconds{100}, 1'000'000'000, 1'000'000));
  traffic.on_delivered(seconds{100}, 1'000'000'000);
  EXPECT_FALSE(traffic.finished());
}

TEST(Traffic, ASizedFlowOffersWhatHasNeitherArrivedNorIsUnderWay) {
  Traffic traffic{{.packets = 10}, 1};
  EXPECT_FALSE(traffic.endless());
  EXPECT_TRUE(traffic.offers(seconds{0}, 4, 5));
  EXPECT_FALSE(traffic.offers(seconds{0}, 4, 6));
  EXPECT_TRUE(traffic.offers(seconds{1}, 4, 5));  // one of the six was lost: it goes again
  EXPECT_FALSE(traffic.next_change());
  traffic.on_delivered(seconds{2}, 9);
  EXPECT_FALSE(traffic.finished());
  traffic.on_delivered(seconds{3}, 10);
  traffic.on_delivered(seconds{4}, 11);  // a probe
  EXPECT_TRUE(traffic.finished());
  EXPECT_EQ(traffic.completion_times(), std::vector<Time>{seconds{3}});
}

TEST(Traffic, ARequestFollowsItsAnswerAfterATimeOfThought) {
  Traffic traffic{{.packets = 10, .mean_think = milliseconds{50}}, 1};
  EXPECT_TRUE(traffic.offers(seconds{0}, 0, 9));
  traffic.on_delivered(seconds{1}, 10);
  EXPECT_FALSE(traffic.finished());
  EXPECT_FALSE(traffic.offers(seconds{1}, 10, 0));
  const std::optional<Time> next = traffic.next_change();
  ASSERT_TRUE(next);
  EXPECT_FALSE(traffic.offers(*next - Time{1}, 10, 0));
  EXPECT_TRUE(traffic.offers(*next, 10, 9));
  EXPECT_FALSE(traffic.offers(*next, 10, 10));
  traffic.on_delivered(*next + milliseconds{70}, 20);
  EXPECT_EQ(traffic.completion_times(), (std::vector<Time>{seconds{1}, milliseconds{70}}));
}

TEST(Traffic, ThoughtThatNeverEndsIsFollowedByNoRequest) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Traffic traffic{{.packets = 10, .mean_think = Time::max()}, seed};
    EXPECT_TRUE(traffic.offers(seconds{0}, 0, 9));
    traffic.on_delivered(seconds{1}, 10);
    EXPECT_FALSE(traffic.offers(std::chrono::hours{1}, 10, 0));
    EXPECT_GT(traffic.next_change().value(), std::chrono::hours{1});
  }
}

TEST(Traffic, SpellsHaveTheMeansAskedFor) {
  Traffic traffic{spells_of(milliseconds{30}, milliseconds{10}), 1};
  int64_t on_ms = 0;
  constexpr int64_t kSpanMs = 200'000;  // some 5000 spells of each kind: 3 % is more than two deviations
  for (int64_t ms = 0; ms < kSpanMs; ++ms) on_ms += traffic.offers(milliseconds{ms}, 0, 0) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(on_ms) / kSpanMs, 0.75, 0.03);
}

TEST(Traffic, AnOffSpellTellsItsEnd) {
  Traffic traffic{spells_of(milliseconds{5}, milliseconds{5}), 7};
  EXPECT_TRUE(traffic.offers(milliseconds{0}, 0, 0));
  EXPECT_FALSE(traffic.next_change());
  Time now{};
  while (traffic.offers(now, 0, 0)) now += milliseconds{1};
  const std::optional<Time> change = traffic.next_change();
  ASSERT_TRUE(change);
  EXPECT_FALSE(traffic.offers(*change - Time{1}, 0, 0));
  EXPECT_TRUE(traffic.offers(*change, 0, 0));
}

TEST(Traffic, TheSameSeedGivesTheSameSpells) {
  Traffic first{spells_of(seconds{1}, seconds{1}), 3};
  Traffic second{spells_of(seconds{1}, seconds{1}), 3};
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(first.offers(milliseconds{20 * i}, 0, 0), second.offers(milliseconds{20 * i}, 0, 0));
}

TEST(Traffic, RefusesWhatWouldNotLetTimeGoOnOrNeverAnswers) {
  EXPECT_THROW((Traffic{spells_of(Time{1}, Time{1}), 1}), std::invalid_argument);
  EXPECT_THROW((Traffic{spells_of(seconds{1}, Time{}), 1}), std::invalid_argument);
  EXPECT_THROW((Traffic{{.mean_think = seconds{1}}, 1}), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
