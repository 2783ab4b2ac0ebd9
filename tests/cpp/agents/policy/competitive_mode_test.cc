#include "agents/policy/competitive_mode.hh"

#include <gtest/gtest.h>

#include <array>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRtt{100};
constexpr double kFull = 0.9;
constexpr double kEmpty = 0.0;

class CompetitiveModeTest : public testing::Test {
 protected:
  void drain(double cwnd_packets, double left, milliseconds queueing = milliseconds{50}) {
    competitive_.on_probe_result(
        {.cwnd_packets = cwnd_packets, .smoothed_rtt = kRtt, .queueing = queueing, .left = left});
  }

  // A flow that gave way at every drain, in vain.
  void enter() {
    drain(40, kFull);
    drain(30, kFull);
    ASSERT_TRUE(competitive_.on());
  }

  double decide(double wanted_packets, milliseconds smoothed_rtt = kRtt) {
    now_ += milliseconds{10};
    return competitive_.window(now_, smoothed_rtt, wanted_packets);
  }

  void lose(Time sent_at) {
    const std::array lost{LostPacket{.seq = 0, .bytes = 1000, .sent_at = sent_at}};
    competitive_.on_loss(now_, lost);
  }

  CompetitiveMode competitive_{};
  Time now_{std::chrono::seconds{1}};
};

TEST_F(CompetitiveModeTest, AQueueThatEmptiesLeavesTheWindowToTheNetwork) {
  for (int i = 0; i < 10; ++i) drain(40 - i, kEmpty);
  EXPECT_FALSE(competitive_.on());
  EXPECT_EQ(decide(5), 5);
}

TEST_F(CompetitiveModeTest, BeginsWhenTwoDrainsFailAndGivingWayDidNotHelp) {
  drain(40, kFull);
  EXPECT_FALSE(competitive_.on());
  drain(30, kFull);
  EXPECT_TRUE(competitive_.on());
}

TEST_F(CompetitiveModeTest, AFlowThatHoldsItsWindowNeedsNoContest) {
  for (int i = 0; i < 10; ++i) drain(40, kFull);
  EXPECT_FALSE(competitive_.on());
}

TEST_F(CompetitiveModeTest, AWindowOfAFewPacketsCannotGiveWay) {
  drain(4, kFull);
  drain(4, kFull);
  EXPECT_TRUE(competitive_.on());
}

TEST_F(CompetitiveModeTest, GrowsByAPacketPerRoundTripAndNeverBelowTheNetworksWindow) {
  decide(5);
  enter();
  const double before = decide(5);
  for (int i = 0; i < 10; ++i) decide(5);
  EXPECT_NEAR(decide(5) - before, 1.1, 1e-9);
  EXPECT_EQ(decide(40), 40.0);
}

TEST_F(CompetitiveModeTest, FallsToSevenTenthsOncePerRoundTripOfLosses) {
  decide(5);
  enter();
  const double before = decide(5);
  lose(now_ - kRtt);
  lose(now_ - kRtt);
  EXPECT_NEAR(decide(5), 0.7 * before + 0.1, 1e-9);
}

TEST_F(CompetitiveModeTest, EndsWhenADrainEmptiesTheQueueAndNotWhenItFallsByHalf) {
  enter();
  drain(40, 0.4);
  EXPECT_TRUE(competitive_.on());
  drain(40, kEmpty);
  EXPECT_FALSE(competitive_.on());
}

TEST_F(CompetitiveModeTest, AShortQueueIsNobodys) {
  for (double cwnd_packets = 40; cwnd_packets > 10; cwnd_packets -= 5)
    drain(cwnd_packets, kFull, milliseconds{20});
  EXPECT_FALSE(competitive_.on());
}

// 30 packets in 100 ms at first; 60 in 190 ms are hardly more: the path has become longer.
TEST_F(CompetitiveModeTest, EndsWhenALargerWindowGainsNothing) {
  enter();
  EXPECT_EQ(decide(60, milliseconds{190}), 60);
  EXPECT_FALSE(competitive_.on());
  drain(40, kFull);
  drain(30, kFull);
  EXPECT_FALSE(competitive_.on());
}

TEST_F(CompetitiveModeTest, GoesOnWhileALargerWindowTakesMore) {
  enter();
  decide(60, milliseconds{120});
  EXPECT_TRUE(competitive_.on());
}

// 30 packets and half as many are 45; three more are not yet too many to tell.
TEST_F(CompetitiveModeTest, AFewPacketsMoreTellNothing) {
  enter();
  decide(48, milliseconds{190});
  EXPECT_TRUE(competitive_.on());
  decide(49, milliseconds{190});
  EXPECT_FALSE(competitive_.on());
}

}  // namespace
}  // namespace ccgym
