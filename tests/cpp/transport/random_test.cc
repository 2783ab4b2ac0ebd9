#include "transport/random.hh"

#include <gtest/gtest.h>

#include <set>

namespace ccgym {
namespace {

TEST(Random, NeighbouringSeedsAndStreamsShareNoNumber) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (uint64_t stream = 0; stream < 10; ++stream) {
      Random random{stream_seed(seed, stream)};
      for (int i = 0; i < 1000; ++i) seen.insert(random.bits());
    }
  }
  EXPECT_EQ(seen.size(), 100'000U);  // of 2^64 by chance: 3e-10 repeated
}

TEST(Random, AStreamOfASeedIsNotThatSeedOfTheStream) { EXPECT_NE(stream_seed(1, 2), stream_seed(2, 1)); }

TEST(Random, UniformNumbersAreWithinTheirInterval) {
  Random random{1};
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double number = random.uniform();
    ASSERT_GE(number, 0);
    ASSERT_LT(number, 1);
    sum += number;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

}  // namespace
}  // namespace ccgym
