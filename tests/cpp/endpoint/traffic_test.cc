#include "deploy/endpoint/traffic.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Traffic, AtFullThrottleThereIsAlwaysOneMore) {
  Traffic traffic;
  EXPECT_TRUE(traffic.offers(seconds{0}, 0, 0));
  EXPECT_TRUE(traffic.offers(seconds{100}, 1'000'000'000, 1'000'000));
  EXPECT_FALSE(traffic.finished(1'000'000'000));
}

TEST(Traffic, ASizedFlowOffersWhatHasNeitherArrivedNorIsUnderWay) {
  Traffic traffic{10, std::nullopt};
  EXPECT_TRUE(traffic.offers(seconds{0}, 4, 5));
  EXPECT_FALSE(traffic.offers(seconds{0}, 4, 6));
  EXPECT_TRUE(traffic.offers(seconds{1}, 4, 5));  // one of the six was lost: it goes again
  EXPECT_FALSE(traffic.next_change());
  EXPECT_FALSE(traffic.finished(9));
  EXPECT_TRUE(traffic.finished(10));
}

TEST(Traffic, SpellsHaveTheMeansAskedFor) {
  Traffic traffic{std::nullopt, OnOffSpells{milliseconds{30}, milliseconds{10}, 1}};
  int64_t on_ms = 0;
  constexpr int64_t kSpanMs = 200'000;  // some 5000 spells of each kind: 3 % is more than two deviations
  for (int64_t ms = 0; ms < kSpanMs; ++ms) on_ms += traffic.offers(milliseconds{ms}, 0, 0) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(on_ms) / kSpanMs, 0.75, 0.03);
}

TEST(Traffic, AnOffSpellTellsItsEnd) {
  Traffic traffic{std::nullopt, OnOffSpells{milliseconds{5}, milliseconds{5}, 7}};
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
  OnOffSpells first{seconds{1}, seconds{1}, 3};
  OnOffSpells second{seconds{1}, seconds{1}, 3};
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(first.on(milliseconds{20 * i}), second.on(milliseconds{20 * i}));
}

}  // namespace
}  // namespace ccgym
