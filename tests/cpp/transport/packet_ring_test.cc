#include "transport/packet_ring.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

TEST(PacketRing, HoldsARingOfPackets) {
  PacketRing ring;
  for (uint64_t seq = 0; seq < 100; ++seq) ring.push(seq);
  EXPECT_FALSE(ring.holds(35));
  EXPECT_TRUE(ring.holds(36));
  EXPECT_TRUE(ring.holds(99));
  EXPECT_FALSE(ring.holds(100));
}

// Packets 64 to 163 need 128 records: the ring grows, and records overwritten before are not restored.
TEST(PacketRing, AfterItHasGrownItStillKnowsWhatIsGone) {
  PacketRing ring;
  for (uint64_t seq = 0; seq < 128; ++seq) ring.push(seq);
  for (uint64_t seq = 128; seq < 140; ++seq) ring.push(64);
  EXPECT_FALSE(ring.holds(63));
  EXPECT_TRUE(ring.holds(64));
  EXPECT_TRUE(ring.holds(139));
}

}  // namespace
}  // namespace ccgym
