#include "agents/controllers/fast_recovery.hh"

#include <gtest/gtest.h>

#include <array>

namespace ccgym {
namespace {

constexpr int64_t kPacket = 1000;

// A flow whose packets are acknowledged one by one; after each ACK as many packets leave as the window
// admits.
struct MarkedFlow {
  int64_t inflight_packets;
  int64_t ssthresh_bytes;
  int64_t packet_bytes{kPacket};
  uint64_t acked{0};
  uint64_t next_seq{static_cast<uint64_t>(inflight_packets)};
  FastRecovery recovery{packet_bytes};

  // Returns the packets that leave.
  int64_t take_ack() {
    --inflight_packets;
    const std::array packet{AckedPacket{.seq = acked, .bytes = packet_bytes}};
    const AckEvent ack{.acked = packet,
                       .inflight_bytes = inflight_packets * packet_bytes,
                       .next_seq = next_seq,
                       .ce_packets = acked == 0 ? 1 : 0};
    if (recovery.begins_with(ack)) recovery.begin(ack, ssthresh_bytes);
    const int64_t window_packets = recovery.on_ack(ack) / packet_bytes;
    const int64_t leaving = std::max<int64_t>(window_packets - inflight_packets, 0);
    ++acked;
    next_seq += static_cast<uint64_t>(leaving);
    inflight_packets += leaving;
    return leaving;
  }
};

// RFC 6937, section 3.1: CEIL. With a window of 57 packets, no ACK before the 23rd sends less than one
// packet.
TEST(FastRecovery, RoundsUpToWholePackets) {
  MarkedFlow flow{.inflight_packets = 57, .ssthresh_bytes = 54'500};
  for (int ack = 1; ack <= 22; ++ack) ASSERT_EQ(flow.take_ack(), 1) << ack;
  EXPECT_EQ(flow.take_ack(), 0);
}

TEST(FastRecovery, SpreadsTheReductionOverTheRoundTrip) {
  MarkedFlow flow{.inflight_packets = 40, .ssthresh_bytes = 20'000};
  int64_t left = 0;
  for (int ack = 1; ack < 39; ++ack) {
    left += flow.take_ack();
    ASSERT_EQ(left, (ack + 1) / 2);
  }
  EXPECT_TRUE(flow.recovery.active());
  EXPECT_EQ(flow.inflight_packets, 21);
}

// 40 GB in flight: the square does not fit into 64 bits.
TEST(FastRecovery, SpreadsTheReductionOfAVeryLargeWindow) {
  constexpr int64_t kGigabyte = 1'000'000'000;
  MarkedFlow flow{.inflight_packets = 40, .ssthresh_bytes = 20 * kGigabyte, .packet_bytes = kGigabyte};
  int64_t left = 0;
  for (int ack = 1; ack < 39; ++ack) {
    left += flow.take_ack();
    ASSERT_EQ(left, (ack + 1) / 2);
  }
}

}  // namespace
}  // namespace ccgym
