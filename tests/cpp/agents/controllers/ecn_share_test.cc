#include "agents/controllers/bbr/ecn_share.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

TEST(EcnShare, AlphaIsAMeanOfRoundsAndBeginsWithAll) {
  EcnShare share;
  share.on_ack(99, 0, false);
  EXPECT_EQ(share.alpha(), 1);
  share.on_ack(1, 0, true);
  EXPECT_DOUBLE_EQ(share.alpha(), 15.0 / 16);
  share.on_ack(4, 1, true);
  EXPECT_DOUBLE_EQ(share.alpha(), 15.0 / 16 + (0.25 - 15.0 / 16) / 16);
}

TEST(EcnShare, CountsRoundsHalfOfWhichIsMarked) {
  EcnShare share;
  share.on_ack(10, 5, true);
  share.on_ack(10, 9, true);
  EXPECT_EQ(share.rounds_too_high(), 2);
  share.on_ack(10, 4, true);
  EXPECT_EQ(share.rounds_too_high(), 0);
}

// An ACK may report more marks than packets, if ACKs before it were lost.
TEST(EcnShare, IsNeverMoreThanAll) {
  EcnShare share;
  share.on_ack(1, 40, true);
  EXPECT_EQ(share.alpha(), 1);
}

}  // namespace
}  // namespace ccgym
