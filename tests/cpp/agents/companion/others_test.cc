#include "agents/companion/others.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMinRtt{20};
constexpr double kWindow = 100;  // 5 packets per ms: two such flows keep 5.4 packets, 1.1 ms of queue

class OthersTest : public testing::Test {
 protected:
  // Round trips, the ends of which see such a queue: it stands through all but the first.
  void pass(int round_trips, milliseconds queueing) {
    for (int i = 0; i < round_trips; ++i) {
      now_ += min_rtt_ + queueing + milliseconds{1};
      others_.on_ack(now_, {min_rtt_ + queueing, min_rtt_, min_rtt_}, kWindow);
    }
  }

  // Round trips without a queue, until the others that have been seen are forgotten.
  int patience() {
    pass(2, milliseconds{5});
    others_.see();
    int round_trips = 0;
    for (; others_.seen() && round_trips < 1000; ++round_trips) pass(1, milliseconds{0});
    return round_trips;
  }

  Others others_{};
  Time now_{};
  milliseconds min_rtt_{kMinRtt};
};

TEST_F(OthersTest, AreSeenWhereAQueueFallsWithoutOurDoing) {
  EXPECT_FALSE(others_.seen());
  others_.on_probe_result({.left = 0.7, .ours = false}, /*unsteady=*/false);
  EXPECT_FALSE(others_.seen());
  others_.on_probe_result({.left = 0.5, .ours = true}, /*unsteady=*/false);
  EXPECT_FALSE(others_.seen());
  others_.on_probe_result({.left = 0.5, .detected = false, .ours = false}, /*unsteady=*/false);
  EXPECT_FALSE(others_.seen());
  others_.on_probe_result({.left = 0.5, .ours = false}, /*unsteady=*/false);
  EXPECT_TRUE(others_.seen());
  others_.on_probe_result({.left = 0.7, .detected = false, .ours = false}, /*unsteady=*/false);
  EXPECT_TRUE(others_.seen());
  others_.on_probe_result({.left = 0.7, .ours = false}, /*unsteady=*/false);
  EXPECT_FALSE(others_.seen());
}

TEST_F(OthersTest, AreRememberedForTwelveDrainsOfOurs) {
  others_.see();
  for (int i = 0; i < 11; ++i) others_.on_probe_result({.ours = true}, /*unsteady=*/false);
  EXPECT_TRUE(others_.seen());
  others_.on_probe_result({.ours = true}, /*unsteady=*/false);
  EXPECT_FALSE(others_.seen());
}

TEST_F(OthersTest, AreRememberedForOneDrainWhereTheQueueIsUnsteady) {
  others_.on_probe_result({.left = 0.5, .ours = false}, /*unsteady=*/true);
  EXPECT_TRUE(others_.seen());
  others_.on_probe_result({.ours = true}, /*unsteady=*/true);
  EXPECT_FALSE(others_.seen());
}

TEST_F(OthersTest, AreForgottenAfterTwentyRoundTripsWithoutAQueue) { EXPECT_EQ(patience(), 20); }

TEST_F(OthersTest, AreNotForgottenWhereAQueueStands) {
  others_.see();
  pass(500, milliseconds{2});
  EXPECT_TRUE(others_.seen());
}

TEST_F(OthersTest, AreForgottenWhereOneFlowAloneMayHaveLeftTheQueue) {
  others_.see();
  pass(21, milliseconds{1});
  EXPECT_FALSE(others_.seen());
}

TEST_F(OthersTest, AQueueNowAndThenIsEnough) {
  others_.see();
  for (int i = 0; i < 20; ++i) {
    pass(2, milliseconds{2});
    pass(18, milliseconds{0});
  }
  EXPECT_TRUE(others_.seen());
}

// Copa's, which keep hardly a packet in a queue.
TEST_F(OthersTest, WhoShowSoonAgainAreForgottenLater) {
  for (const int wanted : {20, 40, 80, 160, 320, 320}) EXPECT_EQ(patience(), wanted);
}

TEST_F(OthersTest, WhoShowMuchLaterAreOthersAgain) {
  patience();
  EXPECT_EQ(patience(), 40);
  pass(97, milliseconds{0});
  EXPECT_EQ(patience(), 80);
  pass(98, milliseconds{0});
  EXPECT_EQ(patience(), 20);
}

// By their shares, for one.
TEST_F(OthersTest, WhoAreSeenAgainAndAgainAreForgottenNoLater) {
  others_.see();
  others_.see();
  EXPECT_EQ(patience(), 20);
}

// After a drain, a scheme that adds a few packets per round trip leaves no queue for many of them.
TEST_F(OthersTest, OnALongPathItIsInDoubtForAHundredRoundTripsWhetherTheyHaveGone) {
  min_rtt_ = milliseconds{150};
  EXPECT_FALSE(others_.in_doubt());
  patience();
  EXPECT_TRUE(others_.in_doubt());
  pass(98, milliseconds{0});
  EXPECT_TRUE(others_.in_doubt());
  pass(2, milliseconds{0});
  EXPECT_FALSE(others_.in_doubt());
}

TEST_F(OthersTest, AShareOfAllOfTheLinkEndsTheDoubt) {
  min_rtt_ = milliseconds{150};
  patience();
  others_.forget();
  EXPECT_FALSE(others_.in_doubt());
}

TEST_F(OthersTest, OnAShortPathThereIsNoDoubt) {
  patience();
  pass(1, milliseconds{0});
  EXPECT_FALSE(others_.in_doubt());
}

}  // namespace
}  // namespace ccgym
