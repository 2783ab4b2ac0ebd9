#include "agents/companion/cubic_window.hh"

#include <gtest/gtest.h>

#include <array>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr RttStats kRtt{milliseconds{100}, milliseconds{100}, milliseconds{50}};
constexpr double kUnlimited = 1e6;

class CubicWindowTest : public testing::Test {
 protected:
  double grow(Time time, double most_packets = kUnlimited) {
    const Time end = now_ + time;
    double packets = 0;
    while (now_ < end) packets = window_.grow(now_ += milliseconds{10}, kRtt, most_packets);
    return packets;
  }

  double lose(Time sent_at, double even_packets = 20) {
    const std::array lost{LostPacket{.bytes = 1000, .sent_at = sent_at}};
    return window_.reduce(now_, lost, even_packets);
  }

  Time now_{std::chrono::seconds{1}};
  CubicWindow window_{now_, 10, 100};
};

TEST_F(CubicWindowTest, GrowsToAnEvenShareByHalfOfItselfInARoundTrip) {
  EXPECT_NEAR(grow(milliseconds{100}), 15, 1);
  EXPECT_NEAR(grow(milliseconds{900}), 100, 1);
}

TEST_F(CubicWindowTest, GrowsNoFurtherThanItMay) { EXPECT_EQ(grow(std::chrono::seconds{5}, 40), 40); }

TEST_F(CubicWindowTest, FallsToSevenTenthsOnceForTheLossesOfARoundTrip) {
  const double before = grow(std::chrono::seconds{1});
  const Time sent_at = now_ - milliseconds{100};
  EXPECT_NEAR(lose(sent_at), 0.7 * before, 1e-9);
  EXPECT_NEAR(lose(sent_at), 0.7 * before, 1e-9);
  EXPECT_NEAR(lose(now_), 0.7 * before, 1e-9);  // sent before it, in the same millisecond
}

// K = cbrt(0.3 * 100 / 0.4) = 4.2 s (eq. 2).
TEST_F(CubicWindowTest, IsBackAtTheLostWindowAfterKSeconds) {
  const double before = grow(std::chrono::seconds{1});
  lose(now_ - milliseconds{100});
  EXPECT_LT(grow(milliseconds{2000}), 0.97 * before);
  EXPECT_NEAR(grow(milliseconds{2200}), before, 1);
}

// Section 4.7: a window of 77 is lost on its way to 100, and the next plateau is at 0.85 times that, 65.5;
// from 54 packets K is 3.1 s. Were it at 77, the window would be 72 half-way.
TEST_F(CubicWindowTest, BelowTheLastPlateauTheNextOneIsLower) {
  grow(std::chrono::seconds{1});
  lose(now_ - milliseconds{100});
  ASSERT_NEAR(grow(milliseconds{300}), 77, 1);
  lose(now_ - milliseconds{100});
  EXPECT_NEAR(grow(milliseconds{1500}), 64, 1);
}

TEST_F(CubicWindowTest, FarBelowAnEvenShareTheNextPlateauLiesNearerToIt) {
  grow(std::chrono::seconds{1});
  lose(now_ - milliseconds{100}, 200);  // 100 packets, half-way to 120: K is 4.6 s
  EXPECT_NEAR(grow(milliseconds{4600}), 110, 1);
}

TEST_F(CubicWindowTest, AReductionThatIsUndoneGivesTheWindowBackFromWhereItGrows) {
  grow(std::chrono::seconds{1});
  lose(now_ - milliseconds{100});
  grow(milliseconds{100});
  window_.undo_reduction(now_);
  EXPECT_NEAR(window_.packets(), 100, 1);
  EXPECT_GT(grow(std::chrono::seconds{3}), 105);
}

TEST_F(CubicWindowTest, WhatHasGrownBeyondTheLostWindowIsNotTakenBack) {
  lose(now_);
  const double grown = grow(std::chrono::seconds{1});
  window_.undo_reduction(now_);
  EXPECT_EQ(window_.packets(), grown);
}

TEST_F(CubicWindowTest, TheFirstPlateauIsTheWindowThatWasLost) {
  ASSERT_NEAR(grow(milliseconds{480}), 70, 1);
  lose(now_ - milliseconds{100});
  EXPECT_NEAR(grow(milliseconds{1500}), 66, 1);  // K is 3.7 s; were it at 60, the window would be 58
}

}  // namespace
}  // namespace ccgym
