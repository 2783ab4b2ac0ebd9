#include "agents/companion/spare_room.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMinRtt{95};
constexpr milliseconds kRtt{100};

class SpareRoomTest : public testing::Test {
 protected:
  // A round trip of ten decisions, with a window of 50 packets of its own.
  double pass(double wanted_packets, Time queueing) {
    double packets = 0;
    for (int i = 0; i < 10; ++i)
      packets = room_.window(now_ += kRtt / 10, {kRtt, kRtt, kRtt - queueing}, 50, wanted_packets);
    return packets;
  }

  SpareRoom room_{};
  Time now_{std::chrono::seconds{1}};
};

TEST_F(SpareRoomTest, IsTakenByAQuarterInARoundTripWhereNoQueueStands) {
  room_.window(now_, {kRtt, kRtt, kMinRtt - milliseconds{1}}, 50, 150);
  EXPECT_NEAR(pass(150, milliseconds{5}), 75, 1);
  EXPECT_NEAR(pass(150, milliseconds{5}), 100, 1);
}

TEST_F(SpareRoomTest, IsNoMoreThanWhatTheNetworkWants) {
  for (int i = 0; i < 9; ++i) pass(150, milliseconds{5});
  EXPECT_EQ(pass(150, milliseconds{5}), 150);
  EXPECT_EQ(pass(40, milliseconds{5}), 50);
}

TEST_F(SpareRoomTest, IsGivenBackByHalfInARoundTripWhereOneStands) {
  for (int i = 0; i < 10; ++i) pass(150, milliseconds{5});
  const double left = pass(150, milliseconds{6});
  EXPECT_GT(left, 50 + 100 * 0.5);
  EXPECT_LT(left, 50 + 100 * 0.65);
  for (int i = 0; i < 20; ++i) pass(150, milliseconds{6});
  EXPECT_NEAR(pass(150, milliseconds{6}), 50, 0.1);
}

TEST_F(SpareRoomTest, IsNoneWhereAQueueStandsFromTheBeginning) {
  EXPECT_EQ(room_.window(now_, {kRtt, kRtt, kMinRtt - milliseconds{1}}, 50, 150), 50);
  EXPECT_EQ(pass(150, milliseconds{10}), 50);
}

}  // namespace
}  // namespace ccgym
