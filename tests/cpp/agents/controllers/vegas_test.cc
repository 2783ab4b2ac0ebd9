#include "agents/controllers/vegas.hh"

#include <gtest/gtest.h>

#include "tests/cpp/agents/controllers/window_flow.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBase{100};

class VegasTest : public testing::Test {
 protected:
  void SetUp() override { flow_.send_while_open(); }

  // Out of slow start: 20 or more packets at 110 ms have 20 * (1 - 100 / 110) = 1.8 or more queued, over
  // gamma.
  void leave_slow_start() {
    while (flow_.cwnd() < 20) flow_.round_trip(kBase);
    for (int i = 0; i < 4; ++i) flow_.round_trip(milliseconds{110});
  }

  // Two rounds, of which the second responds to the first, with `packets` of the window in the queue:
  // cwnd (1 - BaseRTT / RTT) = packets. Returns the change of the window.
  double rounds_with_queued(double packets) {
    const double share = 1 - packets / flow_.cwnd();
    const Time rtt{static_cast<int64_t>(static_cast<double>(Time{kBase}.count()) / share)};
    flow_.round_trip(rtt);
    const double before = flow_.cwnd();
    flow_.round_trip(rtt);
    return flow_.cwnd() - before;
  }

  Vegas vegas_{WindowFlow::kPacketBytes};
  WindowFlow flow_{vegas_};
};

TEST_F(VegasTest, DoublesEveryOtherRoundTripInSlowStart) {
  std::vector<double> windows;
  for (int i = 0; i < 4; ++i) {
    flow_.round_trip(kBase);
    windows.push_back(flow_.cwnd());
  }
  EXPECT_LE(windows[1], 22);  // at most one doubling in two rounds
  EXPECT_GE(windows[2], 18);
  EXPECT_LE(windows[3], 44);
}

TEST_F(VegasTest, LeavesSlowStartWhenAPacketIsQueued) {
  leave_slow_start();
  const double before = flow_.cwnd();
  EXPECT_LT(before, 40 + 9);  // eight ACKs of the next doubling tell
  for (int i = 0; i < 4; ++i) flow_.round_trip(kBase);
  EXPECT_LE(flow_.cwnd(), before + 4);  // by a packet a round from here on
}

TEST_F(VegasTest, KeepsBetweenAlphaAndBetaPacketsInTheQueue) {
  leave_slow_start();
  EXPECT_NEAR(rounds_with_queued(1), 1, 0.01);
  EXPECT_NEAR(rounds_with_queued(3), 0, 0.01);
  EXPECT_NEAR(rounds_with_queued(6), -1, 0.01);
}

TEST_F(VegasTest, HalvesTheWindowOnALoss) {
  leave_slow_start();
  const double inflight = static_cast<double>(flow_.inflight());
  flow_.lose_one_and_recover(kBase);
  EXPECT_NEAR(flow_.cwnd(), inflight / 2, 1);
}

}  // namespace
}  // namespace ccgym
