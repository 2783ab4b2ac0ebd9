#include "agents/controllers/copa.hh"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/cpp/agents/controllers/changing_path.hh"
#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kPacketBytes = 1000;

class CopaTest : public testing::Test {
 protected:
  [[nodiscard]] double cwnd() const {
    return static_cast<double>(copa_.limits().cwnd_bytes) / static_cast<double>(kPacketBytes);
  }

  // An ACK `after` the last one for a packet that left one `rtt` ago; the smoothed RTT follows at once.
  void ack(milliseconds rtt, milliseconds after = milliseconds{1}) {
    now_ += after;
    report_ack(copa_, now_,
               {.bytes = kPacketBytes,
                .sent_at = now_ - rtt,
                .delivered_bytes = delivered_bytes_ += kPacketBytes,
                .rtt = {.latest = rtt, .smoothed = rtt, .min = milliseconds{100}},
                .declared_lost_bytes = declared_lost_bytes_,
                .limited_by = limited_by_});
  }

  // One window: the ACK of a packet that left after the last window ended.
  void round_trip(milliseconds rtt) { ack(rtt, rtt); }

  // A loss is detected one round trip after the packet left, in the window after the one that sent it.
  void lose(Time sent_before = milliseconds{200}, bool timeout = false) {
    const std::array lost{LostPacket{.seq = 0, .bytes = kPacketBytes, .sent_at = now_ - sent_before}};
    report_losses(copa_, now_, {.packets = lost, .inflight_bytes = 0, .timeout = timeout});
  }

  Copa copa_{kPacketBytes, {}};
  Time now_{seconds{1}};
  int64_t delivered_bytes_{0};
  int64_t declared_lost_bytes_{0};
  Limit limited_by_{Limit::window};
};

constexpr milliseconds kEmpty{100};   // RTT of an empty queue
constexpr milliseconds kQueued{200};  // lambda > lambda_t: 10 packets / 200 ms > 1 / (0.5 * 100 ms)

TEST_F(CopaTest, StartsWithTenPacketsUnpaced) {
  EXPECT_EQ(cwnd(), 10);
  EXPECT_FALSE(copa_.limits().pacing_rate.has_value());
}

TEST_F(CopaTest, OpensByAPacketPerAckInSlowStart) {
  for (int i = 0; i < 10; ++i) ack(kEmpty);
  EXPECT_EQ(cwnd(), 20);
}

// Section 2.1: once lambda exceeds lambda_t, cwnd falls by v / (delta cwnd) = 1 / (0.5 * 10) = 0.2 packets.
TEST_F(CopaTest, LeavesSlowStartWhenItExceedsTheTargetRate) {
  ack(kEmpty);
  now_ += milliseconds{150};  // half a smoothed RTT, so that RTTstanding forgets the empty queue
  ack(kQueued);
  EXPECT_NEAR(cwnd(), 11 - 1 / (0.5 * 11), 1e-3);
  ack(kQueued);
  const double falling = 11 - 1 / (0.5 * 11);
  EXPECT_NEAR(cwnd(), falling - 1 / (0.5 * falling), 1e-3);
}

TEST_F(CopaTest, TakesTheSmallestRttOfHalfASmoothedRttForTheStandingOne) {
  ack(kEmpty);
  ack(kQueued);  // 1 ms later: RTTstanding is still 100 ms, d_q = 0
  EXPECT_EQ(cwnd(), 12);
}

// Rate 2 cwnd / RTTstanding: 2 * 11 packets * 8000 bit / 100 ms = 1.76 Mbit/s.
TEST_F(CopaTest, PacesAtTwiceTheWindowPerStandingRtt) {
  ack(kEmpty);
  ASSERT_TRUE(copa_.limits().pacing_rate.has_value());
  EXPECT_NEAR(copa_.limits().pacing_rate->mbps(), 1.76, 1e-9);
}

TEST_F(CopaTest, DoublesTheVelocityEveryRoundTripInOneDirection) {
  round_trip(kEmpty);
  std::array<double, 6> velocities{};
  for (double& velocity : velocities) {
    round_trip(kQueued);
    velocity = copa_.velocity();
  }
  // The first ACK ends slow start, within its window; the first window of falls turns the direction. From
  // then on the velocity doubles, up to a packet per ACK: v <= delta cwnd, 0.5 * 9 packets.
  EXPECT_EQ(velocities, (std::array<double, 6>{1, 1, 2, 4, 4, 2}));
}

// A window is as long as its RTT of 200 ms: of its ACKs most say down, so the velocity keeps its direction.
TEST_F(CopaTest, TakesTheDirectionOfMostAcksOfAWindow) {
  round_trip(kEmpty);
  for (int i = 0; i < 3; ++i) round_trip(kQueued);
  ASSERT_EQ(copa_.velocity(), 2);
  ack(kEmpty);  // one rise ...
  now_ += milliseconds{150};
  for (int i = 0; i < 3; ++i) ack(kQueued);  // ... and three falls within the window
  round_trip(kQueued);
  EXPECT_EQ(copa_.velocity(), 4);
}

TEST_F(CopaTest, TakesTheVelocityBackAtTheEndOfAWindowThatTurns) {
  round_trip(kEmpty);
  for (int i = 0; i < 4; ++i) round_trip(kQueued);
  ASSERT_EQ(copa_.velocity(), 4);
  ack(kEmpty);  // within the round trip: steps up, with the velocity of the way down
  EXPECT_GT(copa_.velocity(), 1);
  ack(kEmpty, milliseconds{1});
  round_trip(kEmpty);
  EXPECT_EQ(copa_.velocity(), 1);
}

TEST_F(CopaTest, NeverMovesByMoreThanAPacketPerAckNorBelowTwoPackets) {
  round_trip(kEmpty);
  for (int i = 0; i < 40; ++i) {
    const double before = cwnd();
    round_trip(kQueued);
    EXPECT_GE(cwnd(), before - 1 - 1e-9);
    EXPECT_GE(cwnd(), 2);
  }
}

// The authors' implementation: every two RTTs, a loss rate above 30 % reduces cwnd to 0.7 of it.
TEST_F(CopaTest, KeepsSevenTenthsOfAWindowThatLosesMoreThanThreeTenths) {
  for (const double share : {0.29, 0.31}) {
    for (int i = 0; i < 40; ++i) round_trip(kEmpty);
    delivered_bytes_ += 1000 * kPacketBytes;
    declared_lost_bytes_ += std::llround(1000 * share / (1 - share)) * kPacketBytes;
    const double before = cwnd();
    now_ += 2 * kEmpty;
    round_trip(kEmpty);
    EXPECT_NEAR(cwnd(), share > 0.3 ? 0.7 * before : before, 1.01) << share;
  }
}

TEST_F(CopaTest, KeepsItsVelocityWhileTheWindowIsNotUsed) {
  round_trip(kEmpty);
  for (int i = 0; i < 3; ++i) round_trip(kQueued);
  ASSERT_EQ(copa_.velocity(), 2);
  limited_by_ = Limit::application;
  for (int i = 0; i < 3; ++i) round_trip(kQueued);
  EXPECT_EQ(copa_.velocity(), 2);
}

// A queue of one packet causes no measurable delay: only losses limit the window.
TEST(CopaRun, DoesNotFloodAQueueOfOnePacket) {
  FlowOnChangingPath flow{"copa", {.queue_packets = 1}};
  flow.run_until(20);
  EXPECT_LT(flow.sender().sent_packets(), 2 * 20 * 683);  // 683 packets/s are 8 Mbit/s
}

// A queue that never empties, oscillating above 150 ms: d_q stays over 0.1 (RTTmax - RTTmin).
class CopaCompetitiveTest : public CopaTest {
 protected:
  void SetUp() override {
    round_trip(kEmpty);
    for (int i = 0; i < 10 && !copa_.competitive(); ++i) round_trip(i % 2 == 0 ? kQueued : milliseconds{150});
    ASSERT_TRUE(copa_.competitive());
  }
};

TEST_F(CopaTest, KeepsTheDefaultModeForFiveRoundTripsWithoutAnEmptyQueue) {
  round_trip(kEmpty);
  for (int i = 0; i < 5; ++i) {
    round_trip(kQueued);
    EXPECT_FALSE(copa_.competitive());
  }
  round_trip(kQueued);
  EXPECT_TRUE(copa_.competitive());
}

TEST_F(CopaTest, IgnoresLossesInTheDefaultMode) {
  ack(kEmpty);
  lose();
  EXPECT_EQ(cwnd(), 11);
  EXPECT_EQ(copa_.delta(), 0.5);
}

TEST_F(CopaCompetitiveTest, RaisesTheInverseOfDeltaByOnePerRoundTrip) {
  const double before = 1 / copa_.delta();
  round_trip(kQueued);
  round_trip(kQueued);
  EXPECT_NEAR(1 / copa_.delta(), before + 2, 1e-9);
}

TEST_F(CopaCompetitiveTest, HalvesTheInverseOfDeltaOncePerRoundTripWithLosses) {
  for (int i = 0; i < 6; ++i) round_trip(kQueued);
  const double before = 1 / copa_.delta();
  ASSERT_GT(before, 4);
  lose();
  lose();
  round_trip(kQueued);
  EXPECT_NEAR(1 / copa_.delta(), before / 2, 1e-9);
}

// The losses of one overflowing queue are reported over a whole round trip, across the end of a window.
TEST_F(CopaCompetitiveTest, DoesNotHalveAgainForALossSentBeforeTheLastHalving) {
  for (int i = 0; i < 6; ++i) round_trip(kQueued);
  const double before = 1 / copa_.delta();
  lose();
  round_trip(kQueued);
  ack(kQueued, milliseconds{50});
  lose(milliseconds{60});
  round_trip(kQueued);
  EXPECT_NEAR(1 / copa_.delta(), before / 2 + 1, 1e-9);
}

TEST_F(CopaCompetitiveTest, IsNeverGentlerThanTheDefaultMode) {
  for (int i = 0; i < 5; ++i) {
    lose();
    round_trip(kQueued);
    EXPECT_LE(copa_.delta(), 0.5);
  }
  EXPECT_EQ(copa_.delta(), 0.5);
}

TEST_F(CopaCompetitiveTest, ReturnsToTheDefaultModeWhenTheQueueEmpties) {
  round_trip(kEmpty);
  EXPECT_FALSE(copa_.competitive());
  EXPECT_EQ(copa_.delta(), 0.5);
}

TEST_F(CopaTest, ForgetsTheMinimumRttAfterTenSeconds) {
  round_trip(kEmpty);
  for (int i = 0; i < 51; ++i) round_trip(kQueued);  // 10.2 s: the path has become longer, no queue
  const double before = cwnd();
  round_trip(kQueued);
  EXPECT_GT(cwnd(), before);
}

TEST_F(CopaTest, RestartsFromTwoPacketsAfterATimeout) {
  for (int i = 0; i < 10; ++i) ack(kEmpty);
  lose(milliseconds{200}, /*timeout=*/true);
  EXPECT_EQ(cwnd(), 2);
  ack(kEmpty);
  EXPECT_EQ(cwnd(), 3);
}

TEST_F(CopaTest, LeavesTheRateToTheWindowWhenTheRttIsZero) {
  ack(milliseconds{0});
  EXPECT_FALSE(copa_.limits().pacing_rate.has_value());
}

}  // namespace
}  // namespace ccgym
