#include "agents/controllers/new_reno.hh"

#include <gtest/gtest.h>

#include <vector>

namespace ccgym {
namespace {

constexpr int64_t kPacketBytes = 1000;

// Drives a controller as the sender does, counting in packets; time plays no part in NewReno.
class NewRenoTest : public testing::Test {
 protected:
  [[nodiscard]] double cwnd() const {
    return static_cast<double>(reno_.limits().cwnd_bytes) / static_cast<double>(kPacketBytes);
  }

  int send_while_open() {
    int sent = 0;
    for (; (inflight_ + 1) * kPacketBytes <= reno_.limits().cwnd_bytes; ++sent) {
      reno_.on_sent(
          {}, {.seq = next_seq_++, .bytes = kPacketBytes, .inflight_bytes = ++inflight_ * kPacketBytes});
    }
    return sent;
  }

  void ack(uint64_t seq) {
    reno_.on_ack({}, {.seq = seq, .bytes = kPacketBytes, .inflight_bytes = --inflight_ * kPacketBytes});
  }

  void lose(const std::vector<uint64_t>& seqs, bool timeout = false) {
    std::vector<LostPacket> packets;
    for (const uint64_t seq : seqs) packets.push_back({.seq = seq, .bytes = kPacketBytes, .sent_at = {}});
    inflight_ -= static_cast<int64_t>(seqs.size());
    reno_.on_loss({}, {.packets = packets, .inflight_bytes = inflight_ * kPacketBytes, .timeout = timeout});
  }

  // Slow start to a window of 20, all of it in flight: packets 10 to 29.
  void fill_twenty() {
    send_while_open();
    for (uint64_t seq = 0; seq < 10; ++seq) {
      ack(seq);
      send_while_open();
    }
    ASSERT_EQ(cwnd(), 20);
    ASSERT_EQ(inflight_, 20);
  }

  NewReno reno_{kPacketBytes};
  uint64_t next_seq_{0};
  int64_t inflight_{0};
};

TEST_F(NewRenoTest, StartsWithTenPackets) {  // RFC 6928
  EXPECT_EQ(send_while_open(), 10);
  EXPECT_FALSE(reno_.limits().pacing_mbps.has_value());
}

TEST_F(NewRenoTest, DoublesTheWindowPerRoundTripInSlowStart) {
  fill_twenty();
  for (uint64_t seq = 10; seq < 30; ++seq) ack(seq);
  EXPECT_EQ(cwnd(), 40);
}

TEST_F(NewRenoTest, HalvesTheFlightOverOneRecovery) {
  fill_twenty();
  lose({10});  // flight 20: ssthresh 10
  for (uint64_t seq = 11; seq < 30; ++seq) {
    ack(seq);
    send_while_open();
  }
  EXPECT_EQ(inflight_, 10);
  ack(30);  // the first packet sent in recovery: recovery ends at ssthresh
  EXPECT_EQ(cwnd(), 10);
}

// RFC 6937 section 3.1: ceil(delivered * ssthresh / RecoverFS) - out bytes may leave, half a packet per ACK.
// One packet has left as the fast retransmission; the fourth ACK pays for the second.
TEST_F(NewRenoTest, SpreadsTheReductionOverTheRoundTrip) {
  fill_twenty();
  lose({10});
  EXPECT_EQ(send_while_open(), 1);
  std::vector<int> sent;
  for (uint64_t seq = 11; seq < 19; ++seq) {
    ack(seq);
    sent.push_back(send_while_open());
  }
  EXPECT_EQ(sent, (std::vector{0, 0, 0, 1, 0, 1, 0, 1}));
}

// Losses that drain the pipe below ssthresh: the slow-start reduction bound lets two packets go per ACK.
TEST_F(NewRenoTest, RefillsThePipeNoFasterThanSlowStartAfterABurstOfLosses) {
  fill_twenty();
  lose({10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});  // 6 remain, ssthresh 10
  send_while_open();
  ASSERT_EQ(inflight_, 7);
  for (uint64_t seq = 24; seq < 28; ++seq) {
    ack(seq);
    EXPECT_LE(send_while_open(), 2);
  }
  EXPECT_EQ(inflight_, 10);
}

TEST_F(NewRenoTest, CutsOnceForAllLossesOfAnEpisode) {
  fill_twenty();
  lose({10});
  ack(12);
  send_while_open();
  lose({11});  // sent before the recovery point, packet 30
  for (uint64_t seq = 13; seq < 30; ++seq) {
    ack(seq);
    send_while_open();
  }
  ack(30);
  EXPECT_EQ(cwnd(), 10);
}

TEST_F(NewRenoTest, CutsAgainForALossOfThePacketsSentInRecovery) {
  fill_twenty();
  lose({10});
  for (uint64_t seq = 11; seq < 30; ++seq) {
    ack(seq);
    send_while_open();
  }
  lose({30});  // flight 10: ssthresh 5
  for (uint64_t seq = 31; seq < 40; ++seq) {
    ack(seq);
    send_while_open();
  }
  ack(40);
  EXPECT_EQ(cwnd(), 5);
}

TEST_F(NewRenoTest, GrowsByOnePacketPerWindowInCongestionAvoidance) {
  fill_twenty();
  lose({10});
  for (uint64_t seq = 11; seq <= 30; ++seq) {
    ack(seq);
    send_while_open();
  }
  ASSERT_EQ(cwnd(), 10);  // packet 30 ended recovery, and is the first of ten that open the window
  for (uint64_t seq = 31; seq < 39; ++seq) ack(seq);
  EXPECT_EQ(cwnd(), 10);
  ack(39);
  EXPECT_EQ(cwnd(), 11);
}

TEST_F(NewRenoTest, RestartsFromOnePacketAfterATimeout) {  // RFC 5681 section 3.1
  fill_twenty();
  std::vector<uint64_t> all;
  for (uint64_t seq = 10; seq < 30; ++seq) all.push_back(seq);
  lose(all, /*timeout=*/true);
  EXPECT_EQ(cwnd(), 1);
  for (uint64_t seq = 30; cwnd() < 10; ++seq) {  // slow start up to ssthresh, half of the flight of 20
    send_while_open();
    const double before = cwnd();
    ack(seq);
    ASSERT_EQ(cwnd(), before + 1);
  }
  send_while_open();
  ack(next_seq_ - 1);
  EXPECT_EQ(cwnd(), 10);
}

TEST_F(NewRenoTest, HoldsSsthreshAtTwoPacketsOrMore) {  // RFC 5681 eq. 4
  send_while_open();
  for (int i = 0; i < 3; ++i) {
    std::vector<uint64_t> all;
    for (int64_t back = inflight_; back > 0; --back) all.push_back(next_seq_ - static_cast<uint64_t>(back));
    lose(all, /*timeout=*/true);
    send_while_open();
  }
  ack(next_seq_ - 1);  // slow start: 2 packets, ssthresh
  send_while_open();
  ack(next_seq_ - 2);  // congestion avoidance: a window's bytes before the next packet
  EXPECT_EQ(cwnd(), 2);
}

}  // namespace
}  // namespace ccgym
