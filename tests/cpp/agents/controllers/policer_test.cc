#include "agents/controllers/bbr/policer.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kPacketBytes = 1000;

// Rounds of 100 ms; the losses of a round are declared before its last delivery.
class PolicerTest : public testing::Test {
 protected:
  bool round(int delivered_packets, int lost_packets, bool app_limited = false) {
    now_ += milliseconds{100};
    delivered_bytes_ += delivered_packets * kPacketBytes;
    lost_bytes_ += lost_packets * kPacketBytes;
    return policer_.on_delivery({.now = now_,
                                 .delivered_bytes = delivered_bytes_,
                                 .declared_lost_bytes = lost_bytes_,
                                 .round_begins = true,
                                 .app_limited = app_limited},
                                probing_);
  }

  // The shortest interval has four rounds, including the one whose loss begins it.
  void first_stretch(int delivered_packets, int lost_packets) {
    round(delivered_packets, lost_packets);
    for (int i = 0; i < 3; ++i) round(delivered_packets, lost_packets);
  }

  void stretch(int delivered_packets, int lost_packets) {
    for (int i = 0; i < 4; ++i) round(delivered_packets, lost_packets);
  }

  [[nodiscard]] double mbps() const { return policer_.bandwidth().value_or(Rate{}).mbps(); }

  Policer policer_{};
  bool probing_{true};
  Time now_{};
  int64_t delivered_bytes_{0};
  int64_t lost_bytes_{0};
};

// 100 packets of 1000 bytes per 100 ms are 8 Mbit/s, 108 are 8.64: within an eighth, and their mean is 8.32.
// 25 lost of 100 delivered are more than 50 of 256.
TEST_F(PolicerTest, IsFoundByTwoIntervalsOfTheSameBandwidthWithAFifthLost) {
  first_stretch(100, 25);
  EXPECT_FALSE(policer_.bandwidth().has_value());
  stretch(108, 27);
  EXPECT_NEAR(mbps(), 8.32, 1e-9);
}

// 100 and 113 packets: more than an eighth apart; 113 and 116 are not.
TEST_F(PolicerTest, IsNotFoundByIntervalsThatDiffer) {
  first_stretch(100, 25);
  stretch(113, 30);
  EXPECT_FALSE(policer_.bandwidth().has_value());
  stretch(116, 30);
  EXPECT_NEAR(mbps(), (113 + 116) / 2.0 * 0.08, 1e-9);
}

// 19 of 100 are less than 50 of 256.
TEST_F(PolicerTest, IsNotFoundWhereLessThanAFifthIsLost) {
  for (int i = 0; i < 100; ++i) round(100, 19);
  EXPECT_FALSE(policer_.bandwidth().has_value());
}

TEST_F(PolicerTest, IsNotLookedForWithoutLossOrWhileTheApplicationLimits) {
  for (int i = 0; i < 100; ++i) round(100, 0);
  EXPECT_FALSE(policer_.bandwidth().has_value());
  for (int i = 0; i < 100; ++i) round(100, 25, /*app_limited=*/true);
  EXPECT_FALSE(policer_.bandwidth().has_value());
}

// An interval of more than 16 rounds: losses at its ends tell nothing about the time between them.
TEST_F(PolicerTest, ForgetsAnIntervalThatLastsTooLong) {
  first_stretch(100, 25);
  for (int i = 0; i < 17; ++i) round(100, 0);
  first_stretch(100, 25);
  EXPECT_FALSE(policer_.bandwidth().has_value());
  stretch(100, 25);
  EXPECT_NEAR(mbps(), 8, 1e-9);
}

TEST_F(PolicerTest, IsForgottenAfterFortyEightRoundsOfProbing) {
  first_stretch(100, 25);
  stretch(100, 25);
  ASSERT_NEAR(mbps(), 8, 1e-9);
  probing_ = false;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(round(100, 0));
  probing_ = true;
  for (int i = 0; i < 47; ++i) EXPECT_FALSE(round(100, 0));
  EXPECT_NEAR(mbps(), 8, 1e-9);
  EXPECT_TRUE(round(100, 0));
  EXPECT_FALSE(policer_.bandwidth().has_value());
}

}  // namespace
}  // namespace ccgym
