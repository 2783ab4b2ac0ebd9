#include "agents/controllers/new_reno.hh"

#include <gtest/gtest.h>

#include <vector>

#include "tests/cpp/agents/controllers/window_flow.hh"
#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

// Time plays no part in NewReno.
class NewRenoTest : public testing::Test {
 protected:
  // Slow start to a window of 20, all of it in flight: packets 10 to 29.
  void fill_twenty() {
    flow_.send_while_open();
    for (uint64_t seq = 0; seq < 10; ++seq) {
      flow_.ack(seq);
      flow_.send_while_open();
    }
    ASSERT_EQ(flow_.cwnd(), 20);
    ASSERT_EQ(flow_.inflight(), 20);
  }

  NewReno reno_{WindowFlow::kPacketBytes};
  WindowFlow flow_{reno_};
};

TEST_F(NewRenoTest, StartsWithTenPackets) {  // RFC 6928
  EXPECT_EQ(flow_.send_while_open(), 10);
  EXPECT_FALSE(reno_.limits().pacing_rate.has_value());
}

TEST_F(NewRenoTest, DoublesTheWindowPerRoundTripInSlowStart) {
  fill_twenty();
  for (uint64_t seq = 10; seq < 30; ++seq) flow_.ack(seq);
  EXPECT_EQ(flow_.cwnd(), 40);
}

TEST_F(NewRenoTest, HalvesTheInflightOverOneRecovery) {
  fill_twenty();
  flow_.lose({10});  // 20 in flight: ssthresh 10
  for (uint64_t seq = 11; seq < 30; ++seq) {
    flow_.ack(seq);
    flow_.send_while_open();
  }
  EXPECT_EQ(flow_.inflight(), 10);
  flow_.ack(30);  // the first packet sent in recovery: recovery ends at ssthresh
  EXPECT_EQ(flow_.cwnd(), 10);
}

// RFC 3168 section 6.1.2: once in a round trip, and as for a loss.
TEST_F(NewRenoTest, HalvesTheWindowForTheMarksOfARoundTrip) {
  fill_twenty();
  flow_.mark_next(5);
  for (uint64_t seq = 10; seq < 30; ++seq) {
    flow_.ack(seq);
    flow_.send_while_open();
  }
  EXPECT_EQ(flow_.inflight(), 10);
  flow_.ack(30);
  EXPECT_EQ(flow_.cwnd(), 10);
}

// RFC 6937 section 3.1: ceil(delivered * ssthresh / RecoverFS) - out bytes may leave, half a packet per ACK.
// One packet has left as the fast retransmission; the fourth ACK pays for the second.
TEST_F(NewRenoTest, SpreadsTheReductionOverTheRoundTrip) {
  fill_twenty();
  flow_.lose({10});
  EXPECT_EQ(flow_.send_while_open(), 1);
  std::vector<int> sent;
  for (uint64_t seq = 11; seq < 19; ++seq) {
    flow_.ack(seq);
    sent.push_back(flow_.send_while_open());
  }
  EXPECT_EQ(sent, (std::vector{0, 0, 1, 0, 1, 0, 1, 0}));
}

// Losses that drain the pipe below ssthresh: the slow-start reduction bound lets two packets go per ACK.
TEST_F(NewRenoTest, RefillsThePipeNoFasterThanSlowStartAfterABurstOfLosses) {
  fill_twenty();
  flow_.lose({10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});  // 6 remain, ssthresh 10
  flow_.send_while_open();
  ASSERT_EQ(flow_.inflight(), 7);
  for (uint64_t seq = 24; seq < 28; ++seq) {
    flow_.ack(seq);
    EXPECT_LE(flow_.send_while_open(), 2);
  }
  EXPECT_EQ(flow_.inflight(), 10);
}

TEST_F(NewRenoTest, CutsOnceForAllLossesOfAnEpisode) {
  fill_twenty();
  flow_.lose({10});
  flow_.ack(12);
  flow_.send_while_open();
  flow_.lose({11});  // sent before the recovery point, packet 30
  for (uint64_t seq = 13; seq < 30; ++seq) {
    flow_.ack(seq);
    flow_.send_while_open();
  }
  flow_.ack(30);
  EXPECT_EQ(flow_.cwnd(), 10);
}

TEST_F(NewRenoTest, CutsAgainForALossOfThePacketsSentInRecovery) {
  fill_twenty();
  flow_.lose({10});
  for (uint64_t seq = 11; seq < 30; ++seq) {
    flow_.ack(seq);
    flow_.send_while_open();
  }
  flow_.lose({30});  // 10 in flight: ssthresh 5
  for (uint64_t seq = 31; seq < 40; ++seq) {
    flow_.ack(seq);
    flow_.send_while_open();
  }
  flow_.ack(40);
  EXPECT_EQ(flow_.cwnd(), 5);
}

TEST_F(NewRenoTest, GrowsByOnePacketPerWindowInCongestionAvoidance) {
  fill_twenty();
  flow_.lose({10});
  for (uint64_t seq = 11; seq <= 30; ++seq) {
    flow_.ack(seq);
    flow_.send_while_open();
  }
  ASSERT_EQ(flow_.cwnd(), 10);  // packet 30 ended recovery, and is the first of ten that open the window
  for (uint64_t seq = 31; seq < 39; ++seq) flow_.ack(seq);
  EXPECT_EQ(flow_.cwnd(), 10);
  flow_.ack(39);
  EXPECT_EQ(flow_.cwnd(), 11);
}

TEST_F(NewRenoTest, RestartsFromOnePacketAfterATimeout) {  // RFC 5681 section 3.1
  fill_twenty();
  std::vector<uint64_t> all;
  for (uint64_t seq = 10; seq < 30; ++seq) all.push_back(seq);
  flow_.lose(all, /*timeout=*/true);
  EXPECT_EQ(flow_.cwnd(), 1);
  for (uint64_t seq = 30; flow_.cwnd() < 10; ++seq) {  // slow start up to ssthresh, half of the 20 in flight
    flow_.send_while_open();
    const double before = flow_.cwnd();
    flow_.ack(seq);
    ASSERT_EQ(flow_.cwnd(), before + 1);
  }
  flow_.send_while_open();
  flow_.ack(flow_.next_seq() - 1);
  EXPECT_EQ(flow_.cwnd(), 10);
}

// RFC 5682, with the response of Linux: cwnd and ssthresh are restored.
TEST_F(NewRenoTest, GoesBackToItsWindowAfterASpuriousTimeout) {
  fill_twenty();
  flow_.lose({10});
  for (uint64_t seq = 11; seq <= 30; ++seq) {
    flow_.ack(seq);
    flow_.send_while_open();
  }
  ASSERT_EQ(flow_.cwnd(), 10);
  std::vector<uint64_t> all;
  for (uint64_t seq = 31; seq < flow_.next_seq(); ++seq) all.push_back(seq);
  flow_.lose(all, /*timeout=*/true);
  flow_.send_while_open();
  reno_.on_spurious_loss(flow_.now(), {.timeout = true});
  EXPECT_EQ(flow_.cwnd(), 10);
  flow_.ack(all.front());
  EXPECT_EQ(flow_.cwnd(), 10);  // congestion avoidance: ssthresh is 10 again
}

TEST_F(NewRenoTest, CutsForALossOfAWindowThatWasOnlyLate) {
  fill_twenty();
  std::vector<uint64_t> all;
  for (uint64_t seq = 10; seq < 30; ++seq) all.push_back(seq);
  flow_.lose(all, /*timeout=*/true);
  reno_.on_spurious_loss(flow_.now(), {.timeout = true});
  ASSERT_EQ(flow_.cwnd(), 20);
  const std::array lost{LostPacket{.seq = 10, .bytes = WindowFlow::kPacketBytes, .sent_at = {}}};
  report_losses(
      reno_, flow_.now(),
      {.packets = lost, .inflight_bytes = 19 * WindowFlow::kPacketBytes, .next_seq = flow_.next_seq()});
  EXPECT_EQ(flow_.cwnd(), 20);  // recovery begins: 19 in flight and one to send
  flow_.ack(30);                // and ends at half
  EXPECT_EQ(flow_.cwnd(), 10);
}

TEST_F(NewRenoTest, ForgetsItsWindowOnceTheTimeoutHasProvedGenuine) {
  fill_twenty();
  std::vector<uint64_t> all;
  for (uint64_t seq = 10; seq < 30; ++seq) all.push_back(seq);
  flow_.lose(all, /*timeout=*/true);
  flow_.send_while_open();
  flow_.ack(30);  // sent after the time-out
  reno_.on_spurious_loss(flow_.now(), {.timeout = true});
  EXPECT_EQ(flow_.cwnd(), 2);
}

// RFC 9002, section 7.8.
TEST_F(NewRenoTest, DoesNotGrowAWindowThatTheApplicationLeavesUnused) {
  flow_.send_while_open();
  flow_.limit_by(Limit::application);
  for (uint64_t seq = 0; seq < 10; ++seq) flow_.ack(seq);
  EXPECT_EQ(flow_.cwnd(), 10);
}

TEST_F(NewRenoTest, HoldsSsthreshAtTwoPacketsOrMore) {  // RFC 5681 eq. 4
  flow_.send_while_open();
  for (int i = 0; i < 2; ++i) {
    flow_.lose(flow_.all_in_flight(), /*timeout=*/true);
    flow_.send_while_open();
    flow_.ack(flow_.next_seq() - 1);  // slow start: 2 packets, at last ssthresh
    flow_.send_while_open();
  }
  flow_.ack(flow_.next_seq() - 2);  // congestion avoidance: a window's bytes before the next packet
  EXPECT_EQ(flow_.cwnd(), 2);
}

TEST_F(NewRenoTest, HoldsSsthreshWhereOneTimeoutFollowsAnother) {  // RFC 5681 section 3.1
  fill_twenty();
  for (int i = 0; i < 3; ++i) {
    flow_.lose(flow_.all_in_flight(), /*timeout=*/true);
    flow_.send_while_open();
  }
  while (flow_.cwnd() < 10) {  // slow start up to half of the 20 that were in flight before the first
    const double before = flow_.cwnd();
    flow_.ack(flow_.next_seq() - 1);
    ASSERT_EQ(flow_.cwnd(), before + 1);
    flow_.send_while_open();
  }
}

}  // namespace
}  // namespace ccgym
