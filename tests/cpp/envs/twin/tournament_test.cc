#include "envs/twin/tournament.hh"

#include <gtest/gtest.h>

#include <algorithm>

#include "transport/random.hh"

namespace ccgym {
namespace {

TEST(Tournament, NobodyWinsBeforeATimeIsSet) {
  EXPECT_EQ(Tournament{5}.earliest(), Tournament::kNever);
  EXPECT_EQ(Tournament{1}.earliest(), Tournament::kNever);
}

TEST(Tournament, OfEqualTimesTheLowerNumberWins) {
  Tournament tournament{6};
  for (const std::size_t contestant : {5U, 2U, 4U}) tournament.set(contestant, 7);
  EXPECT_EQ(tournament.winner(), 2U);
}

TEST(Tournament, AgreesWithAFullSearchWhateverMoves) {
  for (const std::size_t contestants : {1U, 2U, 3U, 100U}) {
    Tournament tournament{contestants};
    std::vector<int64_t> times(contestants, Tournament::kNever);
    Random random{contestants};
    for (int move = 0; move < 2000; ++move) {
      const std::size_t contestant = random.bits() % contestants;
      times[contestant] = random.chance(0.1) ? Tournament::kNever : static_cast<int64_t>(random.bits() % 50);
      tournament.set(contestant, times[contestant]);
      const auto first = std::ranges::min_element(times);
      ASSERT_EQ(tournament.earliest(), *first);
      ASSERT_EQ(tournament.winner(), static_cast<std::size_t>(first - times.begin()));
    }
  }
}

}  // namespace
}  // namespace ccgym
