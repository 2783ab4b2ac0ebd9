#include "agents/controllers/policy/queue_contest.hh"

#include <gtest/gtest.h>

#include <array>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRtt{100};
constexpr double kFull = 0.9;
constexpr double kEmpty = 0.0;

class QueueContestTest : public testing::Test {
 protected:
  void drain(double cwnd_packets, double left, milliseconds rtt = kRtt) {
    contest_.on_drained({.cwnd_packets = cwnd_packets, .smoothed_rtt = rtt, .left = left});
  }

  // A flow that gave way at every drain, in vain.
  void enter() {
    drain(40, kFull);
    drain(30, kFull);
    ASSERT_TRUE(contest_.on());
  }

  double decide(double wanted_packets, milliseconds after = milliseconds{10}) {
    now_ += after;
    return contest_.window(now_, kRtt, wanted_packets);
  }

  void lose(Time sent_at) {
    const std::array lost{LostPacket{.seq = 0, .bytes = 1000, .sent_at = sent_at}};
    contest_.on_loss(now_, {.packets = lost});
  }

  QueueContest contest_{};
  Time now_{std::chrono::seconds{1}};
};

TEST_F(QueueContestTest, AQueueThatEmptiesLeavesTheWindowToTheNetwork) {
  for (int i = 0; i < 10; ++i) drain(40 - i, kEmpty);
  EXPECT_FALSE(contest_.on());
  EXPECT_EQ(decide(5), 5);
}

TEST_F(QueueContestTest, BeginsWhenTwoDrainsFailAndGivingWayDidNotHelp) {
  drain(40, kFull);
  EXPECT_FALSE(contest_.on());
  drain(30, kFull);
  EXPECT_TRUE(contest_.on());
}

TEST_F(QueueContestTest, AFlowThatHoldsItsWindowNeedsNoContest) {
  for (int i = 0; i < 10; ++i) drain(40, kFull);
  EXPECT_FALSE(contest_.on());
}

TEST_F(QueueContestTest, AWindowOfAFewPacketsCannotGiveWay) {
  drain(4, kFull);
  drain(4, kFull);
  EXPECT_TRUE(contest_.on());
}

TEST_F(QueueContestTest, GrowsByAPacketPerRoundTripAndNeverBelowTheNetworksWindow) {
  decide(5);
  enter();
  const double before = decide(5);
  for (int i = 0; i < 10; ++i) decide(5);
  EXPECT_NEAR(decide(5) - before, 1.1, 1e-9);
  EXPECT_EQ(decide(50), 50.0);
}

TEST_F(QueueContestTest, FallsToSevenTenthsOncePerRoundTripOfLosses) {
  decide(5);
  enter();
  const double before = decide(5);
  lose(now_ - kRtt);
  lose(now_ - kRtt);
  EXPECT_NEAR(decide(5), 0.7 * before + 0.1, 1e-9);
}

TEST_F(QueueContestTest, EndsWhenADrainEmptiesTheQueueAndNotWhenItFallsByHalf) {
  enter();
  drain(40, 0.4);
  EXPECT_TRUE(contest_.on());
  drain(40, kEmpty);
  EXPECT_FALSE(contest_.on());
}

// 30 packets in 100 ms at first; 60 in 190 ms are hardly more: the path has become longer.
TEST_F(QueueContestTest, EndsWhenALargerWindowGainsNothing) {
  enter();
  drain(60, kFull, milliseconds{190});
  EXPECT_FALSE(contest_.on());
  drain(40, kFull);
  drain(30, kFull);
  EXPECT_FALSE(contest_.on());
}

TEST_F(QueueContestTest, GoesOnWhileALargerWindowTakesMore) {
  enter();
  drain(60, kFull, milliseconds{120});
  EXPECT_TRUE(contest_.on());
}

}  // namespace
}  // namespace ccgym
