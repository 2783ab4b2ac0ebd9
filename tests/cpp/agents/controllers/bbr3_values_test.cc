// The parts of BBR 3, with numbers from draft-ietf-ccwg-bbr-06.
#include <gtest/gtest.h>

#include <vector>

#include "agents/controllers/bbr/inflight_bounds.hh"
#include "agents/controllers/bbr/min_rtt_filter.hh"
#include "agents/controllers/bbr/probe_cycle.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(MinRttFilter, KeepsTheSmallestAndTellsAfterFiveSecondsThatItIsOld) {
  MinRttFilter filter{seconds{5}};
  EXPECT_FALSE(filter.known());
  EXPECT_FALSE(filter.update(seconds{1}, milliseconds{20}));
  EXPECT_FALSE(filter.update(seconds{6}, milliseconds{30}));  // 5 s after
  EXPECT_EQ(filter.min(), Time{milliseconds{20}});
  EXPECT_TRUE(filter.update(seconds{6} + Time{1}, milliseconds{30}));
  EXPECT_EQ(filter.min(), Time{milliseconds{20}});  // until it is 10 s old
}

TEST(MinRttFilter, ForgetsTheSmallestAfterTenSecondsForTheRecentOne) {
  MinRttFilter filter{seconds{5}};
  filter.update(seconds{1}, milliseconds{20});
  filter.update(seconds{7}, milliseconds{30});
  filter.on_probed(seconds{7});
  EXPECT_FALSE(filter.update(seconds{11}, milliseconds{40}));
  EXPECT_EQ(filter.min(), Time{milliseconds{20}});
  filter.update(seconds{11} + Time{1}, milliseconds{40});
  EXPECT_EQ(filter.min(), Time{milliseconds{30}});
}

// In version 1 ProbeRTT is due when the min RTT expires.
TEST(MinRttFilter, OfOneIntervalForgetsTheSmallestAsItTellsThatItIsOld) {
  MinRttFilter filter{seconds{10}};
  filter.update(seconds{1}, milliseconds{20});
  EXPECT_FALSE(filter.update(seconds{11}, milliseconds{30}));
  EXPECT_EQ(filter.min(), Time{milliseconds{20}});
  EXPECT_TRUE(filter.update(seconds{11} + Time{1}, milliseconds{30}));
  EXPECT_EQ(filter.min(), Time{milliseconds{30}});
  filter.on_probed(seconds{12});
  EXPECT_FALSE(filter.update(seconds{22}, milliseconds{40}));
  EXPECT_EQ(filter.min(), Time{milliseconds{30}});
}

TEST(InflightBounds, LossesLowerTheShortTermByBetaNotBelowWhatWasDelivered) {
  InflightBounds bounds;
  bounds.begin_short_term(100'000);
  bounds.lower_for_losses(60'000, 5, 10);
  EXPECT_DOUBLE_EQ(bounds.shortterm_bytes, 70'000);
  EXPECT_DOUBLE_EQ(bounds.shortterm_bw_mbps, 7);
  bounds.lower_for_losses(60'000, 5, 10);
  EXPECT_DOUBLE_EQ(bounds.shortterm_bytes, 60'000);
  EXPECT_DOUBLE_EQ(bounds.shortterm_bw_mbps, 5);
}

TEST(InflightBounds, MarksLowerWhatIsInFlightByAThirdOfTheirShare) {
  InflightBounds bounds;
  bounds.begin_short_term(90'000);
  EXPECT_DOUBLE_EQ(bounds.lowered_for_marks(1), 60'000);
  EXPECT_DOUBLE_EQ(bounds.lowered_for_marks(0.1), 87'000);
}

TEST(InflightBounds, WidenToWhatTheyWereInEachRespect) {
  InflightBounds bounds{.longterm_bytes = 10, .shortterm_bytes = 9, .shortterm_bw_mbps = 3};
  bounds.widen({.longterm_bytes = 20, .shortterm_bytes = 5, .shortterm_bw_mbps = 4});
  EXPECT_EQ(bounds.longterm_bytes, 20);
  EXPECT_EQ(bounds.shortterm_bytes, 9);
  EXPECT_EQ(bounds.shortterm_bw_mbps, 4);
  bounds.forget_short_term();
  EXPECT_EQ(bounds.shortterm_bytes, InflightBounds::kNone);
  EXPECT_EQ(bounds.longterm_bytes, 20);
}

TEST(ProbeWait, LastsTwoToThreeSeconds) {
  Random random{1};
  ProbeWait wait;
  for (int i = 0; i < 100; ++i) {
    wait.start(seconds{10}, random);
    EXPECT_FALSE(wait.is_over(seconds{12}, 1000));
    EXPECT_TRUE(wait.is_over(seconds{13}, 1000));
  }
}

TEST(ProbeWait, LastsNoLongerThanRenoWouldNeedForALoss) {
  Random random{1};
  for (const double target_packets : {10.0, 1000.0}) {
    ProbeWait wait;
    wait.start(Time{}, random);
    int rounds = 0;
    for (; !wait.is_over(Time{}, target_packets); ++rounds) wait.on_round();
    const double expected = std::min(target_packets, 63.0);
    EXPECT_GE(rounds, expected - 1);  // a round is given away by chance
    EXPECT_LE(rounds, expected);
  }
}

TEST(UpwardSlope, ClimbsByOneTwoFourPacketsARound) {
  UpwardSlope slope;
  std::vector<double> climbed;
  for (int round = 0; round < 4; ++round) {
    slope.steepen(/*cwnd_bytes=*/64'000, /*packet_bytes=*/1000);
    climbed.push_back(0);
    for (int packet = 0; packet < 64; ++packet) climbed.back() += slope.rise_packets(1000);
  }
  EXPECT_EQ(climbed, (std::vector<double>{1, 2, 4, 8}));
  slope.stop();
  EXPECT_EQ(slope.rise_packets(1e9), 0);
}

// Section 5.3.3.9: delta, of which an ACK of many packets may hold several; the rest is kept.
TEST(UpwardSlope, ClimbsBySeveralPacketsForAnAckOfMany) {
  UpwardSlope slope;
  slope.steepen(/*cwnd_bytes=*/2000, /*packet_bytes=*/1000);
  EXPECT_EQ(slope.rise_packets(7000), 3);
  EXPECT_EQ(slope.rise_packets(1000), 1);
}

}  // namespace
}  // namespace ccgym
