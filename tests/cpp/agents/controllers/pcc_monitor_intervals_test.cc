#include "agents/controllers/pcc/monitor_intervals.hh"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <vector>

#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

// Packets of 1500 bytes at 12 Mbit/s: packet n leaves at n ms.
class MonitorIntervalsTest : public testing::Test {
 protected:
  void open(uint64_t first_seq, int trial, double rate_mbps = 12) {
    intervals_.open(milliseconds{first_seq}, first_seq, trial, rate_mbps);
  }
  void send(uint64_t first, uint64_t end) {
    for (uint64_t seq = first; seq < end; ++seq) intervals_.on_sent();
  }
  void acknowledge(std::initializer_list<uint64_t> seqs) {
    for (const uint64_t seq : seqs) acknowledge(seq, milliseconds{40});
  }
  void acknowledge(uint64_t seq, milliseconds rtt) {
    report_ack(intervals_, milliseconds{seq} + rtt, {.seq = seq, .rtt = {.latest = rtt}});
  }
  void lose(uint64_t seq) {
    const std::array lost{LostPacket{.seq = seq}};
    intervals_.on_ack({}, {.lost = lost});
  }

  void time_out(uint64_t first, uint64_t end) {
    std::vector<LostPacket> lost;
    for (uint64_t seq = first; seq < end; ++seq) lost.push_back({.seq = seq});
    intervals_.on_timeout({.lost = lost});
  }

  MonitorIntervals intervals_{1500};
};

TEST_F(MonitorIntervalsTest, SettleOnceClosedAndEveryPacketIsAccountedFor) {
  open(0, 7);
  send(0, 2);
  acknowledge({0});
  EXPECT_FALSE(intervals_.take_settled());
  open(2, 8);
  EXPECT_FALSE(intervals_.take_settled());
  acknowledge({1});
  const auto settled = intervals_.take_settled();
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->trial, 7);
  EXPECT_EQ(settled->rate_mbps, 12.0);
  EXPECT_EQ(settled->loss_rate(), 0);
  EXPECT_EQ(intervals_.outstanding(), 1U);
}

TEST_F(MonitorIntervalsTest, ChargeALossToTheIntervalThatSentThePacket) {
  open(0, 1);
  send(0, 4);
  open(4, 2);
  send(4, 8);
  open(8, 3);
  lose(2);  // known two intervals later
  acknowledge({0, 1, 3, 4, 5, 6, 7});
  EXPECT_EQ(intervals_.take_settled()->loss_rate(), 0.25);
  EXPECT_EQ(intervals_.take_settled()->loss_rate(), 0);
}

TEST_F(MonitorIntervalsTest, WaitForTheOthersAfterALossThatWasNone) {
  open(0, 1);
  send(0, 3);
  open(3, 2);
  lose(0);
  intervals_.on_spurious_loss({.seq = 0});
  acknowledge({0, 1});
  EXPECT_FALSE(intervals_.take_settled());
  acknowledge({2});
  const auto settled = intervals_.take_settled();
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->loss_rate(), 0);
}

TEST_F(MonitorIntervalsTest, WaitOutAnOutage) {
  open(0, 1);
  send(0, 4);
  open(4, 2);
  EXPECT_FALSE(intervals_.take_settled());
  acknowledge({0, 1, 2, 3});  // an outage it was
  EXPECT_EQ(intervals_.take_settled()->loss_rate(), 0);
}

TEST_F(MonitorIntervalsTest, TakeForLostWhatLaterPacketsHaveOvertaken) {
  open(0, 1);
  send(0, 4);
  open(4, 2);
  send(4, 8);
  time_out(0, 4);
  acknowledge({4, 5});
  EXPECT_FALSE(intervals_.take_settled());
  acknowledge({6});  // the third packet behind: RFC 9002's kPacketThreshold
  EXPECT_EQ(intervals_.take_settled()->loss_rate(), 1);
}

// Reordered packets do not count as lost: the sender's loss detector decides.
TEST_F(MonitorIntervalsTest, WaitForWhatLaterPacketsHaveOvertaken) {
  open(0, 1);
  send(0, 4);
  open(4, 2);
  send(4, 8);
  acknowledge({4, 5, 6, 7});
  EXPECT_FALSE(intervals_.take_settled());
  acknowledge({0, 1, 2});
  lose(3);
  EXPECT_EQ(intervals_.take_settled()->loss_rate(), 0.25);
}

// A packet that a time-out presumed lost was not counted as lost, so that its arrival changes no count.
TEST_F(MonitorIntervalsTest, TakeBackOnlyLossesThatWereCharged) {
  open(0, 1);
  send(0, 4);
  open(4, 2);
  lose(0);
  time_out(1, 4);
  intervals_.on_spurious_loss({.seq = 1, .timeout = true});  // 2 and 3 are in flight again
  acknowledge({1, 2});
  time_out(3, 4);
  intervals_.on_spurious_loss({.seq = 3});
  acknowledge({3});
  const auto settled = intervals_.take_settled();
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->lost, 1);
  EXPECT_EQ(settled->loss_rate(), 0.25);
}

// Four packets in 8 ms are 6 Mbit/s, even if the pacer permitted more.
TEST_F(MonitorIntervalsTest, ReportTheRateThatTheWindowLetThrough) {
  open(0, 1, /*rate_mbps=*/12);
  send(0, 4);
  open(8, 2);
  acknowledge({0, 1, 2, 3});
  EXPECT_NEAR(intervals_.take_settled()->rate_mbps, 6, 1e-9);
}

// RTTs of 40, 41, 42, 43 ms for departures 1 ms apart: the RTT grows by 1 ms in 1 ms.
TEST_F(MonitorIntervalsTest, FitTheSlopeOfTheRtt) {
  open(0, 1);
  send(0, 4);
  open(4, 2);
  for (uint64_t seq = 0; seq < 4; ++seq) acknowledge(seq, milliseconds{40 + seq});
  const auto settled = intervals_.take_settled();
  EXPECT_NEAR(settled->rtts.slope(), 1, 1e-9);
  EXPECT_NEAR(settled->rtts.error_s(), 0, 1e-9);
  EXPECT_NEAR(settled->rtts.mean_rtt_s(), 0.0415, 1e-9);
  EXPECT_NEAR(settled->last_rtt_s, 0.043, 1e-9);
}

// RTTs of 2, 1, 1, 2 ms: no slope, each half a millisecond off the mean of 1.5 ms.
TEST(RttLine, KnowsHowFarTheRttsAreOffIt) {
  RttLine line;
  for (const int sent_ms : {0, 1, 2, 3}) line.add(1e-3 * sent_ms, sent_ms % 3 == 0 ? 2e-3 : 1e-3);
  EXPECT_NEAR(line.slope(), 0, 1e-9);
  EXPECT_NEAR(line.error_s(), 0.5e-3, 1e-9);
}

}  // namespace
}  // namespace ccgym
