#include "transport/duplicate_filter.hh"

#include <gtest/gtest.h>

#include <random>
#include <unordered_set>

namespace ccgym {
namespace {

constexpr uint64_t kWindow = 131008;

TEST(DuplicateFilter, PassesEachNumberOnce) {
  DuplicateFilter filter;
  for (uint64_t seq = 0; seq < 3 * kWindow; ++seq) {
    ASSERT_TRUE(filter.insert(seq)) << seq;
    ASSERT_FALSE(filter.insert(seq)) << seq;
  }
}

TEST(DuplicateFilter, PassesAGapFilledLater) {
  DuplicateFilter filter;
  EXPECT_TRUE(filter.insert(1000));
  EXPECT_TRUE(filter.insert(10));
  EXPECT_FALSE(filter.insert(10));
  EXPECT_TRUE(filter.insert(999));
  EXPECT_FALSE(filter.insert(1000));
}

TEST(DuplicateFilter, RefusesWhatIsTooOldToTell) {
  DuplicateFilter filter;
  EXPECT_TRUE(filter.insert(kWindow));
  EXPECT_FALSE(filter.insert(0));
  EXPECT_TRUE(filter.insert(1));
}

TEST(DuplicateFilter, ForgetsNothingStillInTheWindowAndNothingElseStays) {
  DuplicateFilter filter;
  for (uint64_t seq = 0; seq < 100; ++seq) filter.insert(seq);
  EXPECT_TRUE(filter.insert(kWindow + 40));  // the window now begins at 41
  EXPECT_FALSE(filter.insert(41));
  EXPECT_FALSE(filter.insert(99));
  EXPECT_TRUE(filter.insert(100));
  EXPECT_TRUE(filter.insert(50 * kWindow));
  for (uint64_t seq = 49 * kWindow + 1; seq < 50 * kWindow; ++seq) ASSERT_TRUE(filter.insert(seq)) << seq;
}

TEST(DuplicateFilter, SurvivesTheLargestNumber) {
  DuplicateFilter filter;
  EXPECT_TRUE(filter.insert(~uint64_t{0}));
  filter.insert(0);
  filter.insert(~uint64_t{0} - 1);
}

TEST(DuplicateFilter, AgreesWithASetUnderReordering) {
  DuplicateFilter filter;
  std::unordered_set<uint64_t> seen;
  std::mt19937_64 random{7};
  for (uint64_t newest = 5000; newest < 400'000; newest += random() % 3) {
    const uint64_t seq = newest - random() % 5000;
    ASSERT_EQ(filter.insert(seq), seen.insert(seq).second) << seq;
  }
}

}  // namespace
}  // namespace ccgym
