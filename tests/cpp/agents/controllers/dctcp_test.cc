// The formulas of RFC 8257, section 3.3.
#include "agents/controllers/dctcp.hh"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/cpp/agents/controllers/window_flow.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

class DctcpTest : public testing::Test {
 protected:
  DctcpTest() { flow_.send_while_open(); }

  Dctcp dctcp_{WindowFlow::kPacketBytes};
  WindowFlow flow_{dctcp_};
};

TEST_F(DctcpTest, SpeaksEcnAndBeginsAtAllMarked) {
  EXPECT_TRUE(dctcp_.wants_ecn());
  EXPECT_EQ(dctcp_.alpha(), 1);
}

TEST_F(DctcpTest, AlphaFollowsTheShareOfMarksWindowByWindow) {
  double alpha = 1;
  flow_.round_trip(milliseconds{10});  // the first ACK ends the first window, the others begin the next one
  alpha *= 15.0 / 16;
  EXPECT_NEAR(dctcp_.alpha(), alpha, 1e-9);
  flow_.round_trip(milliseconds{10});
  EXPECT_NEAR(dctcp_.alpha(), alpha * 15 / 16, 1e-9);
}

// The window falls by alpha / 2, once in a round trip.
TEST_F(DctcpTest, FallsByHalfOfAlphaOnceInARoundTrip) {
  for (int i = 0; i < 3; ++i) flow_.round_trip(milliseconds{10});
  const double before = flow_.cwnd();
  flow_.mark_next(3);
  flow_.wait(milliseconds{10});
  const uint64_t first = flow_.next_seq() - static_cast<uint64_t>(flow_.inflight());
  const uint64_t end = flow_.next_seq();
  flow_.ack(first, milliseconds{10});
  const double alpha = dctcp_.alpha();
  EXPECT_LT(alpha, 1);
  for (uint64_t seq = first + 1; seq < end; ++seq) {
    flow_.ack(seq, milliseconds{10});
    flow_.send_while_open();
  }
  flow_.ack(end, milliseconds{10});  // the reduction's round trip is over
  EXPECT_NEAR(flow_.cwnd(), std::round(1000 * (1 - alpha / 2) * before) / 1000, 0.01);
}

// Section 3.4.
TEST_F(DctcpTest, HalvesAfterALossAsNewRenoDoes) {
  for (int i = 0; i < 3; ++i) flow_.round_trip(milliseconds{10});
  const double before = static_cast<double>(flow_.inflight());
  flow_.lose_one_and_recover(milliseconds{10});
  EXPECT_NEAR(flow_.cwnd(), before / 2, 0.01);
}

}  // namespace
}  // namespace ccgym
