#include "agents/controllers/pcc/monitor_intervals.hh"

#include <gtest/gtest.h>

#include <array>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

AckedPacket acked(uint64_t seq, milliseconds sent_at, milliseconds rtt) {
  return {.seq = seq, .sent_at = sent_at, .rtt = {.latest = rtt}};
}

void lose(MonitorIntervals& intervals, uint64_t seq) {
  const std::array lost{LostPacket{.seq = seq}};
  intervals.on_loss({.packets = lost});
}

TEST(MonitorIntervals, SettleOnceClosedAndEveryPacketIsAccountedFor) {
  MonitorIntervals intervals;
  intervals.open(Time{}, 7, 12.0);
  intervals.on_sent(0);
  intervals.on_sent(1);
  intervals.on_ack(acked(0, milliseconds{0}, milliseconds{40}));
  EXPECT_FALSE(intervals.take_settled());
  intervals.open(milliseconds{50}, 8, 6.0);
  EXPECT_FALSE(intervals.take_settled());
  intervals.on_ack(acked(1, milliseconds{1}, milliseconds{40}));
  const auto settled = intervals.take_settled();
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->trial, 7);
  EXPECT_EQ(settled->rate_mbps, 12.0);
  EXPECT_EQ(settled->loss_rate(), 0);
}

TEST(MonitorIntervals, ChargeALossToTheIntervalThatSentThePacket) {
  MonitorIntervals intervals;
  intervals.open(Time{}, 1, 12.0);
  for (uint64_t seq = 0; seq < 4; ++seq) intervals.on_sent(seq);
  intervals.open(milliseconds{50}, 2, 12.0);
  for (uint64_t seq = 4; seq < 8; ++seq) intervals.on_sent(seq);
  intervals.open(milliseconds{100}, 3, 12.0);
  lose(intervals, 2);  // known two intervals later
  for (const uint64_t seq : {0U, 1U, 3U, 4U, 5U, 6U, 7U})
    intervals.on_ack(acked(seq, milliseconds{seq}, milliseconds{40}));
  EXPECT_EQ(intervals.take_settled()->loss_rate(), 0.25);
  EXPECT_EQ(intervals.take_settled()->loss_rate(), 0);
}

TEST(MonitorIntervals, DropAnIntervalThatSentNothing) {
  MonitorIntervals intervals;
  intervals.open(Time{}, 1, 12.0);
  intervals.open(milliseconds{50}, 2, 12.0);
  EXPECT_FALSE(intervals.take_settled());
  EXPECT_EQ(intervals.outstanding(), 1U);
}

// RTTs of 40, 41, 42, 43 ms for departures 10 ms apart: the RTT grows by 1 ms in 10 ms.
TEST(MonitorIntervals, FitTheSlopeOfTheRtt) {
  MonitorIntervals intervals;
  intervals.open(milliseconds{100}, 1, 12.0);
  for (uint64_t seq = 0; seq < 4; ++seq) intervals.on_sent(seq);
  intervals.open(milliseconds{140}, 2, 12.0);
  for (uint64_t seq = 0; seq < 4; ++seq)
    intervals.on_ack(acked(seq, milliseconds{100 + 10 * seq}, milliseconds{40 + seq}));
  const auto settled = intervals.take_settled();
  EXPECT_NEAR(settled->rtts.slope(), 0.1, 1e-9);
  EXPECT_NEAR(settled->rtts.mean_rtt_s(), 0.0415, 1e-9);
}

}  // namespace
}  // namespace ccgym
