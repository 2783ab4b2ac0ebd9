#include "agents/companion/link_share.hh"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "tests/cpp/agents/companion/packet_trains.hh"

namespace ccgym {
namespace {

// Of a window of 1000 packets, when the next train is due.
double held_back(LinkShare& link_share, Time now, Time smoothed_rtt) {
  const std::array acked{AckedPacket{.bytes = PacketTrains::kBytes}};
  AckEvent event{.acked = acked, .inflight_bytes = 1000 * PacketTrains::kBytes};
  event.rtt.smoothed = smoothed_rtt;
  link_share.on_ack(now, event, 1000, true);
  return 1000 - link_share.limit(1000);
}

TEST(LinkShare, IsUnknownBeforeFourTrainsAndAGuessAfterTwo) {
  LinkShare link_share;
  PacketTrains trains{2, 0.5};
  trains.send(link_share);
  EXPECT_FALSE(link_share.early_share());
  trains.send(link_share);
  EXPECT_TRUE(link_share.early_share());
  trains.send(link_share);
  EXPECT_FALSE(link_share.share());
  trains.send(link_share);
  EXPECT_TRUE(link_share.share());
}

TEST(LinkShare, IsTheDeliveryRateBesideThatWithinTrains) {
  LinkShare link_share;
  PacketTrains trains{2, 0.5};
  for (int train = 0; train < 6; ++train) trains.send(link_share);
  EXPECT_NEAR(link_share.link_packets_per_ms(), 2, 1e-6);
  EXPECT_NEAR(link_share.share().value(), 0.25, 1e-6);
}

// A flow that has given way on a fast link sends no longer ones, and must know that it starves.
TEST(LinkShare, TrainsThatTakeNoTickTellTheLeastRateOfTheLink) {
  LinkShare link_share;
  PacketTrains trains{1e9, 0.5};
  for (int train = 0; train < 4; ++train) trains.send(link_share);
  EXPECT_NEAR(link_share.link_packets_per_ms(), 7, 1e-6);
  EXPECT_NEAR(link_share.share().value(), 0.5 / 7, 1e-6);
  PacketTrains longer{2, 0.5, trains.now()};
  for (int train = 0; train < 20; ++train) longer.send(link_share);
  EXPECT_NEAR(link_share.link_packets_per_ms(), 2, 0.1);
}

// Of a train of 24 packets 10 leave at once, as those of the second ms do, and 4 a ms later: 2 ms for 2.3.
TEST(LinkShare, TrainsThatMeetNoQueueLackHalfATickOfTheLinksClock) {
  LinkShare link_share;
  PacketTrains trains{10, 9};
  trains.meet_no_queue_before_a_clock();
  for (int packets = 21; packets <= 30; ++packets) trains.send(link_share, packets);
  EXPECT_NEAR(link_share.link_packets_per_ms(), 10, 1);  // 13 without the half tick
}

// Packets that leave one by one have no clock before them.
TEST(LinkShare, TrainsThatMeetNoQueueAndNoClockTellTheRateAsTheyAre) {
  LinkShare link_share;
  PacketTrains trains{0.5, 0.4};
  trains.meet_no_queue_before_a_clock();
  for (int train = 0; train < 6; ++train) trains.send(link_share);
  EXPECT_NEAR(link_share.link_packets_per_ms(), 0.5, 1e-6);
}

// A flow alone, whose window goes up and down, leaves some of the link unused: that is nobody else's share.
TEST(LinkShare, DoesNotCountWhatTheFlowLeavesUnused) {
  LinkShare link_share;
  PacketTrains trains{2, 2};
  for (int train = 0; train < 5; ++train) trains.send(link_share);
  trains.idle_for(5 * PacketTrains::kRtt);  // of six from one train to the next
  for (int train = 0; train < 8; ++train) trains.send(link_share);
  EXPECT_NEAR(link_share.share().value(), 1, 1e-6);
}

// A queue stands where the link has been slow: the rate of that time alone is less than the flow has of it.
TEST(LinkShare, CountsAllOfTheTimeWhereItIsFasterWithoutAQueue) {
  LinkShare link_share;
  PacketTrains trains{2, 1};
  trains.idle_for(2 * PacketTrains::kRtt, 400);  // of six from one train to the next: 400 + 4 * 100
  for (int train = 0; train < 8; ++train) trains.send(link_share);
  EXPECT_NEAR(link_share.share().value(), 800.0 / 600 / 2, 2e-2);
}

TEST(LinkShare, HintsAtOthersAfterTwoTrainsAndShowsThemAfterFour) {
  LinkShare link_share;
  PacketTrains trains{2, 1};
  trains.send(link_share);
  EXPECT_FALSE(link_share.hints_at_others());
  trains.send(link_share);
  EXPECT_TRUE(link_share.hints_at_others());
  EXPECT_FALSE(link_share.shows_others());
  for (int train = 0; train < 2; ++train) trains.send(link_share);
  EXPECT_TRUE(link_share.shows_others());
}

TEST(LinkShare, ShowsSmallOthersBelowTheShareOfAFlowAlone) {
  LinkShare beside;
  PacketTrains most{2, 1.7};
  for (int train = 0; train < 4; ++train) most.send(beside);
  EXPECT_EQ(beside.trains(), 4);
  EXPECT_FALSE(beside.shows_others());
  EXPECT_TRUE(beside.shows_small_others());
  LinkShare alone;
  PacketTrains all{2, 1.9};
  for (int train = 0; train < 4; ++train) all.send(alone);
  EXPECT_FALSE(alone.shows_small_others());
}

// The share is 0.65 of the link both times, but uncertain where trains take 0.8 and 1.25 times as long as
// they should.
TEST(LinkShare, ShowsOthersOnlyAsFarAsItsTrainsAgree) {
  for (const double times : {1.0, 1.25}) {
    LinkShare link_share;
    Time now{std::chrono::seconds{1}};
    for (int train = 0; train < 8; ++train) {
      PacketTrains trains{0.5 * (train % 2 == 0 ? times : 1 / times), 0.325, now};
      trains.send(link_share, 8);
      now = trains.now();
    }
    EXPECT_FALSE(link_share.irregular());
    EXPECT_NEAR(link_share.share().value(), 0.65, 0.04);
    EXPECT_EQ(link_share.shows_others(), times == 1.0) << times;
  }
}

TEST(LinkShare, ShowsNobodyToWhoHasTheLink) {
  LinkShare link_share;
  PacketTrains trains{2, 1.8};
  for (int train = 0; train < 6; ++train) trains.send(link_share);
  EXPECT_TRUE(link_share.share());
  EXPECT_FALSE(link_share.hints_at_others());
}

// By its share alone it would have a rival; but what it leaves of an empty queue is its own doing.
TEST(LinkShare, ShowsNobodyWhereNoQueueStands) {
  LinkShare link_share;
  PacketTrains trains{2, 1};
  trains.idle_for(7 * PacketTrains::kRtt);
  for (int train = 0; train < 6; ++train) trains.send(link_share);
  EXPECT_LT(link_share.share().value(), 0.75);
  EXPECT_FALSE(link_share.shows_others());
}

TEST(LinkShare, NoticesWithinThreeTrainsThatTheRivalHasLeft) {
  LinkShare link_share;
  PacketTrains beside{2, 0.8};
  for (int train = 0; train < 12; ++train) beside.send(link_share);
  PacketTrains alone{2, 2, beside.now()};
  for (int train = 0; train < 4; ++train) alone.send(link_share);
  EXPECT_GT(link_share.share().value(), 0.9);
}

TEST(LinkShare, FollowsALinkThatBecomesSlower) {
  LinkShare link_share;
  PacketTrains fast{4, 0.5};
  for (int train = 0; train < 6; ++train) fast.send(link_share);
  PacketTrains slow{1, 0.5, fast.now()};
  for (int train = 0; train < 12; ++train) slow.send(link_share);
  EXPECT_NEAR(link_share.link_packets_per_ms(), 1, 0.1);
}

TEST(LinkShare, ALinkOfOneRateIsRegular) {
  LinkShare link_share;
  PacketTrains trains{2, 0.5};
  for (int train = 0; train < 12; ++train) trains.send(link_share);
  EXPECT_FALSE(link_share.irregular());
}

TEST(LinkShare, AStepOfTheRateIsNotYetIrregular) {
  LinkShare link_share;
  PacketTrains slow{1, 0.5};
  for (int train = 0; train < 12; ++train) slow.send(link_share);
  PacketTrains fast{10, 0.5, slow.now()};
  fast.send(link_share);
  EXPECT_FALSE(link_share.irregular());
}

TEST(LinkShare, ARateThatComesAndGoesIsIrregular) {
  LinkShare link_share;
  Time now{std::chrono::seconds{1}};
  for (const double packets_per_ms : {2.0, 2.0, 6.0, 0.5, 6.0, 0.5}) {
    PacketTrains trains{packets_per_ms, 0.5, now};
    trains.send(link_share);
    now = trains.now();
  }
  EXPECT_TRUE(link_share.irregular());
}

TEST(LinkShare, ATrainThatWasLostTellsNothing) {
  LinkShare link_share;
  PacketTrains trains{2, 0.5};
  for (int train = 0; train < 6; ++train) trains.send(link_share, 2);
  EXPECT_FALSE(link_share.share());
}

TEST(LinkShare, HoldsAnEighthOfTheWindowBackAndSendsItUnpaced) {
  struct Recorder {
    LinkShare& share;
    double least_limit{64};
    bool was_in_train{false};
    void on_ack(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold) {
      share.on_ack(now, ack, cwnd_packets, may_hold);
      least_limit = std::min(least_limit, share.limit(cwnd_packets));
      was_in_train |= share.in_train();
    }
  };
  LinkShare link_share;
  Recorder recorder{link_share};
  PacketTrains trains{2, 0.5};
  trains.send(recorder);
  EXPECT_EQ(recorder.least_limit, 56);
  EXPECT_TRUE(recorder.was_in_train);
  EXPECT_FALSE(link_share.in_train());
  EXPECT_EQ(link_share.limit(64), 64);
}

// An eighth of the window takes 50 ms of a round trip of 400.
TEST(LinkShare, TheFirstTrainsHoldNoMoreBackThanTheFlowSendsIn40Ms) {
  for (const auto& [rtt_ms, held_packets] :
       {std::pair{100, 125.0}, {320, 125.0}, {400, 100.0}, {1000, 40.0}}) {
    LinkShare link_share;
    EXPECT_EQ(held_back(link_share, std::chrono::seconds{1}, std::chrono::milliseconds{rtt_ms}), held_packets)
        << rtt_ms;
  }
}

TEST(LinkShare, LaterTrainsHoldAnEighthOfTheWindowBackOnLongRoundTripsToo) {
  for (const auto& [trains_before, held_packets] : {std::pair{5, 40.0}, {6, 125.0}}) {
    LinkShare link_share;
    PacketTrains trains{2, 0.5};
    for (int train = 0; train < trains_before; ++train) trains.send(link_share);
    const Time later = trains.now() + 10 * PacketTrains::kRtt;
    EXPECT_EQ(held_back(link_share, later, std::chrono::seconds{1}), held_packets) << trains_before;
  }
}

TEST(LinkShare, ATrainIsNoLongerWhereTheWindowHasGrownMeanwhile) {
  struct Grower {
    LinkShare& share;
    void on_ack(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold) {
      const double now_packets = share.limit(cwnd_packets) < cwnd_packets ? 2 * cwnd_packets : cwnd_packets;
      share.on_ack(now, ack, now_packets, may_hold);
      if (!share.in_train()) return;
      inflight_packets = static_cast<double>(ack.inflight_bytes) / PacketTrains::kBytes;
      limit = share.limit(now_packets);
    }
    double inflight_packets{0};
    double limit{0};
  };
  LinkShare link_share;
  Grower grower{link_share};
  PacketTrains trains{2, 0.5};
  trains.send(grower);
  EXPECT_GT(grower.inflight_packets, 0);
  EXPECT_EQ(grower.limit, grower.inflight_packets + 8);  // an eighth of 64, which were held back
}

// A link with a clock delivers several packets at one instant, and their ACKs come before one can be
// answered.
TEST(LinkShare, ATrainOutlastsTheAcksOfItsInstant) {
  struct Again {
    LinkShare& share;
    void on_ack(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold) {
      share.on_ack(now, ack, cwnd_packets, may_hold);
      if (!share.in_train()) return;
      share.on_ack(now, ack, cwnd_packets, may_hold);
      seen = true;
      EXPECT_TRUE(share.in_train());
    }
    bool seen{false};
  };
  LinkShare link_share;
  Again again{link_share};
  PacketTrains trains{2, 0.5};
  trains.send(again);
  EXPECT_TRUE(again.seen);
}

TEST(LinkShare, LetsGoWhereTheWindowHasBecomeSmallerThanWhatIsHeldBack) {
  struct Shrinking {
    LinkShare& share;
    void on_ack(Time now, const AckEvent& ack, double /*cwnd_packets*/, bool may_hold) {
      share.on_ack(now, ack, 64, may_hold);
      if (share.limit(64) == 64) return;
      held = true;
      EXPECT_EQ(share.limit(4), 0);
      share.on_ack(now, ack, 4, may_hold);
      EXPECT_EQ(share.limit(4), 4);
    }
    bool held{false};
  };
  LinkShare link_share;
  Shrinking shrinking{link_share};
  PacketTrains trains{2, 0.5};
  trains.send(shrinking);
  EXPECT_TRUE(shrinking.held);
}

TEST(LinkShare, LetsGoWhereNothingMayBeHeldBack) {
  struct Drain {
    LinkShare& share;
    void on_ack(Time now, const AckEvent& ack, double cwnd_packets, bool /*may_hold*/) {
      share.on_ack(now, ack, cwnd_packets, share.limit(64) == 64);
      EXPECT_FALSE(share.in_train());
    }
  };
  LinkShare link_share;
  Drain drain{link_share};
  PacketTrains trains{2, 0.5};
  for (int train = 0; train < 6; ++train) trains.send(drain);
  EXPECT_FALSE(link_share.share());
}

}  // namespace
}  // namespace ccgym
