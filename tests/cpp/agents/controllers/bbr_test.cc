#include "agents/controllers/bbr/bbr.hh"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kPacketBytes = 1000;
constexpr milliseconds kRtt{100};
constexpr double kLinkMbps = 8;  // a packet per ms: a BDP of 100 packets

// A flow with the ACKs of a path of 8 Mbit/s and 100 ms: one per ms, each delayed by `queued` ms.
class BbrTest : public testing::Test {
 protected:
  // One ACK; the sample says `mbps` over the round trip.
  void ack(double mbps = kLinkMbps, Time queueing = {}, int64_t inflight_packets = 100,
           std::span<const LostPacket> lost = {}) {
    now_ += milliseconds{1};
    delivered_ += kPacketBytes;
    const Time rtt = kRtt + queueing;
    const bool held_back = bbr_.limits().holds_back;  // the sender marks what leaves meanwhile
    const auto sample_bytes = static_cast<int64_t>(mbps * static_cast<double>(rtt.count()) / 8e3);
    report_ack(bbr_, now_,
               {.seq = seq_++,
                .bytes = kPacketBytes,
                .sent_at = now_ - rtt,
                .inflight_bytes = inflight_packets * kPacketBytes,
                .delivered_bytes = delivered_,
                .rtt = {.latest = rtt, .smoothed = rtt, .min = kRtt},
                .rate = {.delivered_bytes = sample_bytes,
                         .prior_delivered_bytes = delivered_ - 100 * kPacketBytes,
                         .interval = rtt,
                         .ack_interval = rtt,
                         .app_limited = held_back},
                .declared_lost_bytes = lost_bytes_,
                .lost = lost});
  }

  void round_trip(double mbps = kLinkMbps, Time queueing = {}, int64_t inflight_packets = 100) {
    for (int i = 0; i < 100; ++i) ack(mbps, queueing, inflight_packets);
  }

  void lose(const std::vector<uint64_t>& seqs, uint64_t next_seq) {
    std::vector<LostPacket> lost;
    for (const uint64_t seq : seqs) lost.push_back({.seq = seq, .bytes = kPacketBytes});
    lost_bytes_ += std::ssize(lost) * kPacketBytes;
    report_losses(bbr_, now_,
                  {.packets = lost,
                   .inflight_bytes = 90 * kPacketBytes,
                   .delivered_bytes = delivered_,
                   .next_seq = next_seq});
  }

  void meet_policer() {
    for (int i = 0; i < 12 * 150; ++i) {
      const std::array lost{LostPacket{.seq = seq_ - 1, .bytes = 40 * kPacketBytes, .sent_at = now_ - kRtt}};
      if (i % 150 == 0) {
        lost_bytes_ += 40 * kPacketBytes;
        report_losses(bbr_, now_, {.packets = lost, .inflight_bytes = 100 * kPacketBytes, .next_seq = seq_});
      }
      ack(2 * kLinkMbps);  // the samples of bursts tell of twice the rate
    }
  }

  void reach_probe_bw() {
    for (int i = 0; i < 6 && bbr_.mode() == Bbr::Mode::startup; ++i) round_trip();
    ack();
    ASSERT_EQ(bbr_.mode(), Bbr::Mode::probe_bw);
  }

  [[nodiscard]] double cwnd() const {
    return static_cast<double>(bbr_.limits().cwnd_bytes) / static_cast<double>(kPacketBytes);
  }

  Bbr bbr_{kPacketBytes, 1};
  Time now_{};
  uint64_t seq_{0};
  int64_t delivered_{0};
  int64_t lost_bytes_{0};
};

// Linux: ten packets per ms until there is a round-trip time, then per round trip: 80 kbit per 100 ms.
TEST_F(BbrTest, PacesTheInitialWindowByTheFirstRoundTrip) {
  EXPECT_NEAR(bbr_.limits().pacing_rate->mbps(), 2.885 * 80 * 0.99, 0.01);
  ack(0.1);
  EXPECT_NEAR(bbr_.limits().pacing_rate->mbps(), 2.885 * 0.8 * 0.99, 0.001);
}

TEST_F(BbrTest, PacesAtTwoOverLnTwoTimesTheBandwidthInStartup) {
  EXPECT_EQ(cwnd(), 10);
  ack(4);
  ack(4);
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::startup);
  EXPECT_GT(bbr_.limits().pacing_rate->mbps(), 2.88 * 4 * 0.99);
}

// Section 4.3.2.2: three rounds in which the bandwidth does not grow by 25 %.
TEST_F(BbrTest, LeavesStartupAfterThreeRoundsWithoutGrowth) {
  round_trip(2);
  round_trip(4);
  round_trip(8);
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::startup);
  round_trip(8, {}, 250);
  round_trip(9, {}, 250);  // 9 < 1.25 * 8
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::startup);
  round_trip(8, {}, 250);
  ack(8, {}, 250);
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::drain);
  EXPECT_NEAR(bbr_.limits().pacing_rate->mbps(), 9 * 0.99 / 2.885, 0.01);
  ack(8, {}, 110);  // the BDP of 9 Mbit/s is 112 packets
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::probe_bw);
}

// Section 4.3.4.1: 5/4, 3/4 and six times 1, each for a round trip; 5/4 until that much is in flight.
TEST_F(BbrTest, CyclesThroughItsGains) {
  reach_probe_bw();
  std::multiset<double> gains;
  for (int phase = 0; phase < 8; ++phase) {
    const double gain = bbr_.pacing_gain();
    gains.insert(gain);
    for (int i = 0; i < 100 || (gain > 1 && i == 100); ++i) ack(kLinkMbps, {}, gain > 1 ? 140 : 105);
    if (bbr_.pacing_gain() == gain) ack(kLinkMbps, {}, 140);
  }
  EXPECT_EQ(gains.count(1.25), 1U);
  EXPECT_EQ(gains.count(0.75), 1U);
  EXPECT_EQ(gains.count(1.0), 6U);
}

// Two BDP of 100 packets and three quanta of a millisecond or two packets: 200 + 3 * 2, and 2 while probing.
// ACKs never run ahead of the bandwidth here.
TEST_F(BbrTest, AllowsTwoBdpInFlight) {
  reach_probe_bw();
  round_trip();
  round_trip();
  EXPECT_NEAR(cwnd(), 207, 3);
}

TEST_F(BbrTest, ForgetsABandwidthAfterTenRounds) {
  reach_probe_bw();
  for (int i = 0; i < 8; ++i) round_trip(4);
  EXPECT_GT(bbr_.limits().pacing_rate->mbps(), 0.75 * kLinkMbps * 0.99 - 0.01);
  for (int i = 0; i < 4; ++i) round_trip(4);
  EXPECT_LT(bbr_.limits().pacing_rate->mbps(), 1.25 * 4 * 0.99 + 0.01);
}

TEST_F(BbrTest, ShrinksToFourPacketsTenSecondsAfterTheSmallestRtt) {
  reach_probe_bw();
  while (now_ < seconds{10}) ack(kLinkMbps, milliseconds{5});
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::probe_bw);
  for (int i = 0; i < 10; ++i) ack(kLinkMbps, milliseconds{5});
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::probe_rtt);
  EXPECT_EQ(cwnd(), 4);
  for (int i = 0; i < 210; ++i) ack(kLinkMbps, {}, 4);
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::probe_bw);
  EXPECT_GT(cwnd(), 150);
}

// However many rounds it lasts: with four packets in flight, low samples do not lower the bandwidth.
TEST_F(BbrTest, RemembersTheBandwidthWhileItProbesForTheSmallestRtt) {
  reach_probe_bw();
  while (bbr_.mode() != Bbr::Mode::probe_rtt) ack(kLinkMbps, milliseconds{5});
  for (int i = 0; i < 12; ++i) round_trip(0.3, milliseconds{5}, 5);
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::probe_rtt);
  EXPECT_NEAR(bbr_.limits().pacing_rate->mbps(), kLinkMbps * 0.99, 0.01);
}

// Linux's tcp_bbr: whole packets, an even number of them. 2 * 0.57 Mbit/s * 100 ms are 14.25 packets; with
// three quanta of one packet, as below 1.2 Mbit/s, 18.
TEST_F(BbrTest, AllowsAnEvenNumberOfPacketsInFlight) {
  for (int i = 0; i < 6; ++i) round_trip(0.57, {}, 6);
  ASSERT_EQ(bbr_.mode(), Bbr::Mode::probe_bw);
  while (bbr_.pacing_gain() != 1) ack(0.57, {}, 30);
  for (int i = 0; i < 20; ++i) ack(0.57, {}, 6);
  EXPECT_EQ(static_cast<int64_t>(cwnd()) % 2, 0);
  EXPECT_GE(cwnd(), 18);
}

// Linux, bbr_undo_cwnd: the conclusions from spurious losses are forgotten.
TEST_F(BbrTest, RestoresTheWindowAfterASpuriousTimeout) {
  reach_probe_bw();
  round_trip();
  round_trip();
  const double before = cwnd();
  const std::array lost{LostPacket{.seq = seq_ - 1, .bytes = kPacketBytes, .sent_at = now_ - kRtt}};
  report_losses(bbr_, now_, {.packets = lost, .timeout = true, .next_seq = seq_});
  ASSERT_EQ(cwnd(), 1);
  bbr_.on_spurious_loss(now_, {.timeout = true});
  EXPECT_EQ(cwnd(), before);
}

TEST_F(BbrTest, GrowsAgainOnceAllThatSeemedLostHasArrived) {
  round_trip();
  const double before = cwnd();
  lose({seq_ - 1}, seq_ + 100);
  bbr_.on_spurious_loss(now_, {.seq = seq_ - 1});
  ack();
  EXPECT_EQ(cwnd(), before + 1);
}

TEST_F(BbrTest, KeepsTheWindowOfATimeoutUntilWhatLeftAfterItArrives) {
  reach_probe_bw();
  round_trip();
  const double before = cwnd();
  const std::array lost{LostPacket{.seq = seq_ - 1, .bytes = kPacketBytes}};
  report_losses(bbr_, now_, {.packets = lost, .timeout = true, .next_seq = seq_ + 2});
  for (int i = 0; i < 2; ++i) ack(kLinkMbps, {}, 1);
  EXPECT_LE(cwnd(), 5);
  ack(kLinkMbps, {}, 1);
  EXPECT_NEAR(cwnd(), before, 3);
}

// All losses were spurious: the recovery is over, and cwnd is restored.
TEST_F(BbrTest, RestoresTheWindowOnceAllThatSeemedLostHasArrived) {
  reach_probe_bw();
  round_trip();
  round_trip();
  const double before = cwnd();
  lose({seq_ - 2, seq_ - 1}, seq_ + 100);
  ASSERT_EQ(cwnd(), 91);
  bbr_.on_spurious_loss(now_, {.seq = seq_ - 2});
  EXPECT_EQ(cwnd(), 91);  // one is still missing
  bbr_.on_spurious_loss(now_, {.seq = seq_ - 1});
  EXPECT_EQ(cwnd(), before);
  ack(kLinkMbps, {}, 92);
  EXPECT_NEAR(cwnd(), before, 3);  // packets are no longer conserved
}

TEST_F(BbrTest, DoesNotUndoARecoveryOfWhichAPacketIsLost) {
  reach_probe_bw();
  round_trip();
  lose({seq_ - 1}, seq_ + 100);
  lose({seq_ + 100}, seq_ + 200);  // in the same recovery
  bbr_.on_spurious_loss(now_, {.seq = seq_ + 100});
  EXPECT_EQ(cwnd(), 91);
}

// Linux, bbr_set_cwnd: four packets until the smallest RTT is known, whatever the undone recovery had before.
TEST_F(BbrTest, KeepsTheWindowOfProbeRttAfterLossesThatWereNone) {
  reach_probe_bw();
  lose({seq_ - 1}, seq_ + 100);
  now_ += seconds{11};
  ack();
  ASSERT_EQ(bbr_.mode(), Bbr::Mode::probe_rtt);
  bbr_.on_spurious_loss(now_, {.seq = seq_ - 1});
  ack();
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::probe_rtt);
  EXPECT_EQ(cwnd(), 4);
}

// Linux: the search for growth begins again, so that Startup continues.
TEST_F(BbrTest, LooksForGrowthAnewAfterLossesThatWereNone) {
  for (int i = 0; i < 3; ++i) round_trip();
  ASSERT_EQ(bbr_.mode(), Bbr::Mode::startup);
  lose({seq_ - 1}, seq_ + 1);
  bbr_.on_spurious_loss(now_, {.seq = seq_ - 1});
  for (int i = 0; i < 3; ++i) round_trip();
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::startup);
}

// Lost packets count as having been in flight: a probe with a gain of 5/4 that loses packets is over.
TEST_F(BbrTest, CountsTheFirstLossOfAnEpisode) {
  reach_probe_bw();
  while (bbr_.pacing_gain() != 1.25) ack(kLinkMbps, {}, 105);
  for (int i = 0; i < 101; ++i) ack(kLinkMbps, {}, 105);  // a round trip, and less than 5/4 in flight
  ASSERT_EQ(bbr_.pacing_gain(), 1.25);
  const std::array lost{LostPacket{.seq = seq_ - 1, .bytes = kPacketBytes, .sent_at = now_ - kRtt}};
  ack(kLinkMbps, {}, 105, lost);
  EXPECT_EQ(bbr_.pacing_gain(), 0.75);
}

// Linux, bbr_cwnd_event: no probing for the smallest RTT after an idle time, which has emptied the queue.
TEST_F(BbrTest, DoesNotProbeForTheSmallestRttAfterAnIdleTime) {
  reach_probe_bw();
  now_ += seconds{11};
  bbr_.on_restart(now_, seconds{11});
  EXPECT_NEAR(bbr_.limits().pacing_rate->mbps(), kLinkMbps * 0.99, 0.01);
  ack();
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::probe_bw);
}

TEST_F(BbrTest, GoesOnWithARecoveryThatASpuriousTimeoutInterrupted) {
  reach_probe_bw();
  round_trip();
  const std::array lost{LostPacket{.seq = seq_ - 1, .bytes = kPacketBytes, .sent_at = now_ - kRtt}};
  const double before = cwnd();
  report_losses(bbr_, now_, {.packets = lost, .inflight_bytes = 90 * kPacketBytes, .next_seq = seq_ + 2});
  report_losses(bbr_, now_, {.packets = lost, .timeout = true, .next_seq = seq_ + 2});
  bbr_.on_spurious_loss(now_, {.timeout = true});
  ack(kLinkMbps, {}, 90);
  ack(kLinkMbps, {}, 90);
  ack(kLinkMbps, {}, 90);  // of a packet that left after the losses: the recovery ends
  EXPECT_NEAR(cwnd(), before, 3);
}

// Section 4.2.3.4: cwnd is the inflight, with packet conservation for a round; then cwnd is restored.
TEST_F(BbrTest, ConservesPacketsForARoundTripAfterALossAndRestoresTheWindow) {
  reach_probe_bw();
  round_trip();
  round_trip();
  const double before = cwnd();
  const std::array lost{LostPacket{.seq = seq_ - 1, .bytes = kPacketBytes, .sent_at = now_ - kRtt}};
  report_losses(bbr_, now_, {.packets = lost, .inflight_bytes = 90 * kPacketBytes, .next_seq = seq_});
  EXPECT_EQ(cwnd(), 91);
  ack(kLinkMbps, {}, 90);  // sent after the loss: recovery has ended
  EXPECT_NEAR(cwnd(), before, 2);
}

// A policer drops 40 of every 150 packets, and passes 8 Mbit/s. The flow is then paced at that rate, without
// a gain.
TEST_F(BbrTest, PacesAtWhatAPolicerLetsThrough) {
  reach_probe_bw();
  meet_policer();
  EXPECT_EQ(bbr_.mode(), Bbr::Mode::probe_bw);
  EXPECT_EQ(bbr_.pacing_gain(), 1);
  EXPECT_NEAR(bbr_.limits().pacing_rate->mbps(), kLinkMbps * 0.99, 0.01);
}

// Linux: spurious losses must not be taken for those of a policer.
TEST_F(BbrTest, ForgetsAPolicerAfterLossesThatWereNone) {
  reach_probe_bw();
  meet_policer();
  lose({seq_ + 1}, seq_ + 2);
  bbr_.on_spurious_loss(now_, {.seq = seq_ + 1});
  ack(2 * kLinkMbps);
  EXPECT_GT(bbr_.limits().pacing_rate->mbps(), 1.4 * kLinkMbps);
}

}  // namespace
}  // namespace ccgym
