#include "agents/controllers/bbr/recent_max.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

TEST(RecentMax, IsTheLargestOfTheLastEpochs) {
  RecentMax<3> max;
  EXPECT_EQ(max.best(), 0);
  max.update(5);
  max.advance();
  max.update(3);
  max.advance();
  max.update(2);
  EXPECT_EQ(max.best(), 5);
  max.advance();
  max.update(1);
  EXPECT_EQ(max.best(), 3);
}

TEST(RecentMax, ForgetsNothingBeforeThereIsSomethingNew) {
  RecentMax<3> max;
  max.update(5);
  for (int i = 0; i < 100; ++i) max.advance();
  EXPECT_EQ(max.best(), 5);
  max.update(1);
  EXPECT_EQ(max.best(), 1);
}

}  // namespace
}  // namespace ccgym
