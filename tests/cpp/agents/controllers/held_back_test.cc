#include "agents/controllers/bbr/held_back.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

AckedPacket acked(int64_t delivered_bytes, int64_t inflight_bytes) {
  AckedPacket packet;
  packet.bytes = 1000;
  packet.delivered_bytes = delivered_bytes;
  packet.inflight_bytes = inflight_bytes;
  return packet;
}

bool covers(const HeldBack& stretch, int64_t prior_delivered_bytes) {
  RateSample rate;
  rate.prior_delivered_bytes = prior_delivered_bytes;
  return stretch.covers(rate);
}

TEST(HeldBack, CoversNothingAtFirst) { EXPECT_FALSE(covers(HeldBack{}, 0)); }

// MarkConnectionAppLimited of draft-ietf-ccwg-bbr-06: until what was in flight has been delivered.
TEST(HeldBack, CoversWhatLeftInTheStretchUntilWhatWasInFlightHasArrived) {
  HeldBack stretch;
  stretch.on_ack(acked(50000, 4000));
  stretch.on_ack(acked(51000, 4000));
  EXPECT_FALSE(covers(stretch, 49000));  // left before
  EXPECT_TRUE(covers(stretch, 50000));
  EXPECT_TRUE(covers(stretch, 55000));
  EXPECT_FALSE(covers(stretch, 56000));
}

TEST(HeldBack, BeginsAnew) {
  HeldBack stretch;
  stretch.on_ack(acked(50000, 4000));
  stretch.on_ack(acked(90000, 4000));
  EXPECT_FALSE(covers(stretch, 52000));
  EXPECT_TRUE(covers(stretch, 92000));
}

}  // namespace
}  // namespace ccgym
