#include "agents/companion/competitive_mode.hh"

#include <gtest/gtest.h>

#include <array>

#include "tests/cpp/agents/companion/packet_trains.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr double kFull = 0.9;
constexpr double kEmpty = 0.0;
constexpr milliseconds kLong{50};
constexpr milliseconds kShort{10};
constexpr milliseconds kVeryLong{120};

class CompetitiveModeTest : public testing::Test {
 public:
  void on_ack(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold) {  // for PacketTrains
    mode_.on_ack(now, ack.rtt);
    link_share_.on_ack(now, ack, cwnd_packets, may_hold);
  }

 protected:
  void probe(double left, milliseconds queueing = kLong, bool unsteady = false, double cwnd_packets = 64) {
    mode_.on_probe_result({.cwnd_packets = cwnd_packets,
                           .smoothed_rtt = PacketTrains::kRtt,
                           .queueing = queueing,
                           .left = left},
                          link_share_, unsteady);
  }

  void observe(double left, milliseconds queueing = kShort, bool unsteady = false, bool detected = true) {
    mode_.on_observed({.cwnd_packets = 64,
                       .smoothed_rtt = PacketTrains::kRtt,
                       .queueing = queueing,
                       .left = left,
                       .detected = detected,
                       .ours = false},
                      link_share_, unsteady);
  }

  // A rival, beside whom we have 0.3 of the link until the presumption ends.
  void presume() {
    measure(0.3, 2);
    decide(5);
    EXPECT_TRUE(mode_.on());
    measure(0.3, 5);
    now_ += 20 * PacketTrains::kRtt;
  }

  // Trains over a link of 2 packets per ms, of which we have `share`.
  void measure(double share, int count = 12) {
    PacketTrains trains{2, 2 * share, now_};
    for (int train = 0; train < count; ++train) trains.send(*this);
    now_ = trains.now();
  }

  double decide(double wanted_packets, Time smoothed_rtt = PacketTrains::kRtt) {
    now_ += milliseconds{10};
    return mode_.window(now_, {smoothed_rtt, smoothed_rtt, PacketTrains::kRtt / 2}, wanted_packets,
                        link_share_);
  }

  // The part of a window that is there 220 ms after a loss.
  double left_after_loss(Time smoothed_rtt_after) {
    const double before_packets = decide(5);
    const std::array lost{LostPacket{.bytes = 1000, .sent_at = now_}};
    EXPECT_LT(mode_.on_loss(now_, lost, before_packets), 0.71 * before_packets);
    double packets = 0;
    for (int i = 0; i < 22; ++i) packets = decide(5, smoothed_rtt_after);
    return packets / before_packets;
  }

  void fail(int probes, milliseconds queueing = kLong) {
    for (int i = 0; i < probes; ++i) probe(kFull, queueing);
  }

  // Of a flow with 0.15 of what the link of `measure` holds.
  void drain(int probes, milliseconds queueing, bool unsteady = false) {
    for (int i = 0; i < probes; ++i) probe(kEmpty, queueing, unsteady, 0.15 * 2 * in_ms(PacketTrains::kRtt));
  }

  void enter() {
    fail(1);
    measure(0.25);
    fail(4);
    decide(64);
    ASSERT_TRUE(mode_.on());
  }

  CompetitiveMode mode_{};
  LinkShare link_share_{};
  Time now_{std::chrono::seconds{1}};
};

TEST_F(CompetitiveModeTest, AQueueThatEmptiesLeavesTheWindowToTheNetwork) {
  for (int i = 0; i < 10; ++i) probe(kEmpty);
  measure(0.25);
  EXPECT_EQ(decide(5), 5);
  EXPECT_FALSE(mode_.on());
}

TEST_F(CompetitiveModeTest, BeginsWhereALongQueueStaysFiveTimesAndOthersHaveMostOfTheLink) {
  fail(4);
  EXPECT_TRUE(mode_.wants_probe());
  measure(0.25);
  decide(5);
  EXPECT_FALSE(mode_.on());
  fail(1);
  decide(5);
  EXPECT_TRUE(mode_.on());
}

TEST_F(CompetitiveModeTest, AProbeHasFailedThatLeavesMoreThanNineTwentiethsOfTheQueue) {
  probe(kFull);
  measure(0.25);
  for (int i = 0; i < 20; ++i) probe(0.44);
  EXPECT_EQ(decide(5), 5);
  for (int i = 0; i < 5; ++i) probe(0.46);
  EXPECT_GT(decide(5), 20);
}

TEST_F(CompetitiveModeTest, AShorterQueueTakesTwiceAsManyProbes) {
  fail(1, kShort);
  EXPECT_FALSE(mode_.wants_probe());
  measure(0.25);
  fail(8, kShort);
  EXPECT_TRUE(mode_.wants_probe());
  decide(5);
  EXPECT_FALSE(mode_.on());
  fail(1, kShort);
  decide(5);
  EXPECT_TRUE(mode_.on());
}

TEST_F(CompetitiveModeTest, WhoHasLessThanAFifthOfTheLinkTakesHalfAsManyProbes) {
  fail(1);
  measure(0.22);
  fail(2);
  EXPECT_EQ(decide(5), 5);
  measure(0.18);
  fail(1);
  EXPECT_GT(decide(5), 20);
}

TEST_F(CompetitiveModeTest, WhoHasTheLinkForItselfSuspectsNobody) {
  fail(4);
  measure(0.5);
  decide(5);
  EXPECT_TRUE(mode_.suspects());
  measure(1);
  decide(5);
  EXPECT_FALSE(mode_.suspects());
  measure(0.25);
  fail(1);
  decide(5);
  EXPECT_FALSE(mode_.on());
}

TEST_F(CompetitiveModeTest, AProbeThatEmptiesTheQueueTakesBackOneThatFailed) {
  fail(9, kShort);
  measure(0.25);
  probe(kEmpty);
  EXPECT_FALSE(mode_.wants_probe());
  fail(1, kShort);
  decide(5);
  EXPECT_FALSE(mode_.on());
  fail(1, kShort);
  decide(5);
  EXPECT_TRUE(mode_.on());
}

TEST_F(CompetitiveModeTest, AQueueOfAMillisecondOrTwoIsNobodys) {
  fail(20, milliseconds{2});
  measure(0.25);
  decide(5);
  EXPECT_FALSE(mode_.on());
}

// An outage leaves a longer queue than any rival.
TEST_F(CompetitiveModeTest, AQueueThatIsUnsteadyByItselfIsNobodys) {
  fail(4);
  measure(0.25);
  for (int i = 0; i < 20; ++i) probe(kFull, milliseconds{500}, /*unsteady=*/true);
  decide(5);
  EXPECT_FALSE(mode_.on());
  EXPECT_FALSE(mode_.wants_probe());
  fail(1);
  decide(5);
  EXPECT_TRUE(mode_.on());
}

TEST_F(CompetitiveModeTest, AProbeThatEmptiesAnUnsteadyQueueTakesBackOneThatFailed) {
  fail(5);
  measure(0.25);
  probe(kEmpty, kLong, /*unsteady=*/true);
  decide(5);
  EXPECT_FALSE(mode_.on());
}

TEST_F(CompetitiveModeTest, APathThatHasBecomeLongerIsNoRival) {
  fail(1);
  measure(1.0);
  fail(9);
  EXPECT_EQ(decide(64), 64);
  EXPECT_FALSE(mode_.on());
}

// An even share is half of 2 packets per ms in 100 ms: 100.
TEST_F(CompetitiveModeTest, BeginsAtAQuarterOfAnEvenShareAtLeast) {
  fail(1);
  measure(0.25);
  fail(4);
  EXPECT_NEAR(decide(5), 25, 1);
}

TEST_F(CompetitiveModeTest, GrowsALittleBeyondAnEvenShareAndNoFurther) {
  enter();
  for (int i = 0; i < 3000; ++i) decide(64);
  EXPECT_NEAR(decide(64), 110, 1);
  EXPECT_NEAR(decide(500), 110, 1);
}

TEST_F(CompetitiveModeTest, TakesWhatIsLeftWhereNoQueueStandsAndGivesItBack) {
  enter();
  const RttStats empty{PacketTrains::kRtt, PacketTrains::kRtt, PacketTrains::kRtt};
  double packets = 0;
  for (int i = 0; i < 100; ++i) packets = mode_.window(now_ += milliseconds{10}, empty, 300, link_share_);
  EXPECT_NEAR(packets, 300, 1);
  for (int i = 0; i < 100; ++i) packets = decide(300);
  EXPECT_LT(packets, 115);
}

TEST_F(CompetitiveModeTest, ALossReducesTheWindowToSevenTenths) {
  enter();
  for (int i = 0; i < 300; ++i) decide(5);
  const double before = decide(5);
  const std::array lost{LostPacket{.bytes = 1000, .sent_at = now_ - milliseconds{10}}};
  EXPECT_NEAR(mode_.on_loss(now_, lost, before), 0.7 * before, 1e-9);
  EXPECT_NEAR(decide(5), 0.7 * before, 0.02 * before);
}

// Of 200 packets the others have 133 when 67 are ours. If the round trip stays as long when ours have become
// 47, they have 153.
TEST_F(CompetitiveModeTest, ALossThatOthersDoNotShareIsUndone) {
  enter();
  EXPECT_GT(left_after_loss(PacketTrains::kRtt), 0.99);
}

TEST_F(CompetitiveModeTest, ALossThatOthersShareIsNot) {
  enter();
  EXPECT_LT(left_after_loss(PacketTrains::kRtt * 8 / 10), 0.85);
}

TEST_F(CompetitiveModeTest, WhoHasAnEvenShareLosesItAlone) {
  enter();
  for (int i = 0; i < 300; ++i) decide(5);
  EXPECT_LT(left_after_loss(PacketTrains::kRtt), 0.85);
}

// With 0.4 of the link its own drains empty the queue.
TEST_F(CompetitiveModeTest, WhatOthersLeaveStandingThreeTimesIsARivals) {
  probe(kEmpty);
  measure(0.4);
  observe(kFull);
  probe(kEmpty);
  observe(kFull);
  EXPECT_EQ(decide(5), 5);
  observe(kFull);
  decide(5);
  EXPECT_TRUE(mode_.on());
}

TEST_F(CompetitiveModeTest, WhatOthersDrainInBetweenIsNobodys) {
  probe(kEmpty);
  measure(0.4);
  for (const double left : {kFull, kFull, 0.8, kFull, kFull}) observe(left);
  EXPECT_EQ(decide(5), 5);
  EXPECT_FALSE(mode_.on());
}

TEST_F(CompetitiveModeTest, AQueueThatStandsTellsNothingOfItself) {
  probe(kEmpty);
  measure(0.4);
  for (int i = 0; i < 9; ++i) observe(kFull, kShort, /*unsteady=*/true);
  for (int i = 0; i < 9; ++i) observe(kFull, kShort, /*unsteady=*/false, /*detected=*/false);
  EXPECT_EQ(decide(5), 5);
}

// At 0.64 packets per ms it keeps 4.8 of them, which is 7.5 ms.
TEST_F(CompetitiveModeTest, AQueueOfItsOwnTellsOfNobody) {
  probe(kEmpty);
  measure(0.4);
  for (int i = 0; i < 9; ++i) observe(kFull, milliseconds{7});
  EXPECT_EQ(decide(5), 5);
  for (int i = 0; i < 3; ++i) observe(kFull, milliseconds{8});
  EXPECT_GT(decide(5), 20);
}

TEST_F(CompetitiveModeTest, WhoHasASmallPartGoesByItsDrains) {
  probe(kEmpty);
  measure(0.25);
  for (int i = 0; i < 9; ++i) observe(kFull);
  EXPECT_EQ(decide(5), 5);
}

TEST_F(CompetitiveModeTest, WhoHasMostOfTheLinkSuspectsNobody) {
  probe(kEmpty);
  measure(0.8);
  for (int i = 0; i < 9; ++i) observe(kFull);
  EXPECT_EQ(decide(5), 5);
}

TEST_F(CompetitiveModeTest, AfterAContestItAsksAnew) {
  probe(kEmpty);
  measure(0.4);
  for (int i = 0; i < 3; ++i) observe(kFull);
  decide(5);
  EXPECT_TRUE(mode_.on());
  mode_.leave();
  observe(kFull);
  EXPECT_EQ(decide(5), 5);
}

TEST_F(CompetitiveModeTest, WhoStarvesBehindAVeryLongQueueThatOthersDrainHasARival) {
  measure(0.15);
  drain(3, kVeryLong);
  EXPECT_EQ(decide(5), 5);
  drain(1, kVeryLong);
  EXPECT_NE(decide(5), 5);
}

TEST_F(CompetitiveModeTest, WhatHasBeenARivalsDrainOnceIsSoonerTakenForOne) {
  measure(0.15);
  drain(4, kVeryLong);
  EXPECT_NE(decide(5), 5);
  mode_.leave();
  drain(2, kVeryLong);
  EXPECT_EQ(decide(5), 5);
  drain(1, kVeryLong);
  EXPECT_NE(decide(5), 5);
}

TEST_F(CompetitiveModeTest, DrainsOfShorterQueuesAreNoRivals) {
  measure(0.15);
  for (int i = 0; i < 4; ++i) {
    drain(3, kVeryLong);
    drain(1, kLong);
  }
  EXPECT_EQ(decide(5), 5);
}

TEST_F(CompetitiveModeTest, WhoHasItsPartTakesDrainsForThoseOfItsOwnKind) {
  measure(0.25);
  for (int i = 0; i < 9; ++i) probe(kEmpty, kVeryLong, false, 0.25 * 2 * in_ms(PacketTrains::kRtt));
  EXPECT_EQ(decide(5), 5);
}

TEST_F(CompetitiveModeTest, DrainsOfAnUnsteadyQueueAreNobodys) {
  measure(0.15);
  drain(9, kVeryLong, true);
  EXPECT_EQ(decide(5), 5);
}

TEST_F(CompetitiveModeTest, WhoDoesNotKnowItsShareAsksBehindAVeryLongQueue) {
  drain(2, kVeryLong);
  EXPECT_FALSE(mode_.suspects());
  drain(9, kVeryLong);
  EXPECT_TRUE(mode_.suspects());
  EXPECT_EQ(decide(5), 5);
  measure(0.15);
  EXPECT_EQ(decide(5), 5) << "by the next drain it knows whether it starves";
  drain(1, kVeryLong);
  EXPECT_NE(decide(5), 5);
}

// The queue of PacketTrains stands at 50 ms.
TEST_F(CompetitiveModeTest, ANewFlowPresumesARivalByTheQueueThatItMeets) {
  measure(0.25, 2);
  decide(5);
  EXPECT_TRUE(mode_.on());
}

TEST_F(CompetitiveModeTest, ANewFlowWithHalfOfTheLinkPresumesNobody) {
  measure(0.5, 2);
  EXPECT_EQ(decide(5), 5);
  measure(0.25, 2);
  EXPECT_EQ(decide(5), 5);
  EXPECT_FALSE(mode_.on());
}

TEST_F(CompetitiveModeTest, AFlowThatHasProbedPresumesNobody) {
  probe(kEmpty);
  measure(0.25, 2);
  EXPECT_EQ(decide(5), 5);
  EXPECT_FALSE(mode_.on());
}

TEST_F(CompetitiveModeTest, AQueueThatEmptiesRefutesAPresumption) {
  measure(0.25, 1);
  probe(kEmpty);
  measure(0.25, 1);
  EXPECT_EQ(decide(5), 5);
  EXPECT_FALSE(mode_.on());
}

TEST_F(CompetitiveModeTest, AFlowStepsBackFromAPresumedRival) {
  presume();
  EXPECT_EQ(decide(5), 5);
  EXPECT_FALSE(mode_.on());
}

TEST_F(CompetitiveModeTest, AShareThatFallsConfirmsAPresumption) {
  presume();
  decide(5);
  measure(0.2, 6);
  decide(5);
  EXPECT_TRUE(mode_.on());
}

TEST_F(CompetitiveModeTest, AShareThatFallsFromTheMostSinceTheStepBackConfirmsAPresumption) {
  presume();
  decide(5);
  measure(0.4, 6);
  decide(5);
  EXPECT_FALSE(mode_.on());
  measure(0.3, 6);
  decide(5);
  EXPECT_TRUE(mode_.on());
}

TEST_F(CompetitiveModeTest, AShareOfALinkThatVariesByItselfConfirmsNothing) {
  presume();
  decide(5);
  for (const double link_packets_per_ms : {6.0, 0.5, 6.0, 0.5}) {
    PacketTrains trains{link_packets_per_ms, 0.2, now_};
    trains.send(*this);
    now_ = trains.now();
  }
  EXPECT_EQ(decide(5), 5);
  EXPECT_FALSE(mode_.on());
}

// 100 packets have gone, 64 of them at most by the probe.
TEST_F(CompetitiveModeTest, OthersThatDrainAreNotWatchedAnyMore) {
  presume();
  decide(5);
  probe(kEmpty);
  measure(0.1, 6);
  EXPECT_EQ(decide(5), 5);
  EXPECT_FALSE(mode_.on());
}

// 90 packets have gone, and a Cubic's reduction with the probe may explain them.
TEST_F(CompetitiveModeTest, WhatTheProbeMayHaveDrainedItselfTellsOfNoOthers) {
  presume();
  decide(5);
  probe(kEmpty, milliseconds{45});
  measure(0.1, 6);
  decide(5);
  EXPECT_TRUE(mode_.on());
}

TEST_F(CompetitiveModeTest, AShareThatStaysConfirmsNothing) {
  presume();
  decide(5);
  measure(0.26, 6);
  EXPECT_EQ(decide(5), 5);
  EXPECT_FALSE(mode_.on());
}

TEST_F(CompetitiveModeTest, EndsWhenTheLinkIsOursAlone) {
  enter();
  measure(1.0);
  EXPECT_EQ(decide(30), 30);
  EXPECT_FALSE(mode_.on());
}

}  // namespace
}  // namespace ccgym
