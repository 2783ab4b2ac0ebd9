#include "agents/companion/loss_synchronization.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRtt{50};

class LossSynchronizationTest : public testing::Test {
 protected:
  void reduce() { synchronization_.on_reduction(now_, kRtt, 100); }

  bool lost_alone(milliseconds later, double others_packets) {
    return synchronization_.lost_alone(now_ + later, others_packets);
  }

  LossSynchronization synchronization_{};
  Time now_{std::chrono::seconds{1}};
};

TEST_F(LossSynchronizationTest, OthersThatHoldWhatTheyHeldHaveLostNothing) {
  reduce();
  EXPECT_TRUE(lost_alone(2 * kRtt, 100));
}

TEST_F(LossSynchronizationTest, OthersThatGaveWayHaveLostAsWell) {
  reduce();
  EXPECT_FALSE(lost_alone(2 * kRtt, 90));
}

TEST_F(LossSynchronizationTest, BeforeTwoRoundTripsNothingIsKnown) {
  reduce();
  EXPECT_FALSE(lost_alone(kRtt, 100));
  EXPECT_TRUE(lost_alone(2 * kRtt, 100));
}

TEST_F(LossSynchronizationTest, ALossCountsOnce) {
  reduce();
  EXPECT_TRUE(lost_alone(2 * kRtt, 100));
  EXPECT_FALSE(lost_alone(3 * kRtt, 100));
}

TEST_F(LossSynchronizationTest, WithoutALossNothingIsSaid) { EXPECT_FALSE(lost_alone(10 * kRtt, 100)); }

}  // namespace
}  // namespace ccgym
