// Numbers and test cases of draft-ietf-ccwg-bbr-06 (its sections, and appendix A).
#include "agents/controllers/bbr/bbr3.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Mode = Bbr3::Mode;

constexpr int64_t kPacketBytes = 1000;
constexpr milliseconds kRtt{100};
constexpr double kLinkMbps = 8;  // a packet per ms: a BDP of 100 packets
constexpr int kRoundPackets = 100;
constexpr int64_t kInflight = 99;  // no queue

// A flow with the ACKs of a path of 8 Mbit/s and 100 ms: one per ms, so that a round has 100.
class Bbr3Test : public testing::Test {
 protected:
  Bbr3Test() {
    for (int i = 0; i < kRoundPackets; ++i) send(i + 1);
  }

  // Sends a packet with that many in flight, and acknowledges one sent a round trip ago, with a rate sample
  // of `mbps`. The RTT decreases from ACK to ACK unless there is a queue.
  void ack(double mbps = kLinkMbps, int64_t inflight_packets = kInflight, Time queueing = {}) {
    now_ += milliseconds{1};
    delivered_ += kPacketBytes;
    const Time rtt = queueing == Time{} ? kRtt - Time{delivered_ / kPacketBytes} : kRtt + queueing;
    send(inflight_packets);
    while (lost_.contains(arriving_seq_)) ++arriving_seq_;
    const Departure& departure = departures_.at(arriving_seq_);
    report_ack(bbr_, now_,
               {.seq = arriving_seq_++,
                .bytes = kPacketBytes,
                .sent_at = now_ - rtt,
                .inflight_bytes = inflight_packets * kPacketBytes,
                .delivered_bytes = delivered_,
                .next_seq = next_seq(),
                .rtt = {.latest = rtt, .smoothed = rtt, .min = std::min<Time>(rtt, kRtt)},
                .rate = {.delivered_bytes = std::llround(mbps * static_cast<double>(rtt.count()) / 8e3),
                         .prior_delivered_bytes = delivered_ - kRoundPackets * kPacketBytes,
                         .interval = rtt,
                         .ack_interval = rtt},
                .inflight_bytes_at_departure = departure.inflight_bytes,
                .lost_bytes_at_departure = departure.lost_bytes,
                .declared_lost_bytes = lost_bytes_,
                .ce_packets = std::exchange(mark_next_, 0)});
  }

  void send(int64_t inflight_packets) {
    departures_.push_back({inflight_packets * kPacketBytes, lost_bytes_});
    bbr_.on_sent(
        now_,
        {.seq = next_seq() - 1, .bytes = kPacketBytes, .inflight_bytes = inflight_packets * kPacketBytes});
  }

  void round_trip(double mbps = kLinkMbps, int64_t inflight_packets = kInflight, Time queueing = {}) {
    for (int i = 0; i < kRoundPackets; ++i) ack(mbps, inflight_packets, queueing);
  }

  void lose(const std::vector<uint64_t>& seqs, int64_t inflight_packets = 100, bool timeout = false) {
    std::vector<LostPacket> lost;
    lost_.insert(seqs.begin(), seqs.end());
    for (const uint64_t seq : seqs) {
      lost.push_back({.seq = seq,
                      .bytes = kPacketBytes,
                      .inflight_bytes_at_departure = departures_.at(seq).inflight_bytes,
                      .lost_bytes_at_departure = departures_.at(seq).lost_bytes,
                      .app_limited = app_limited_});
    }
    lost_bytes_ += static_cast<int64_t>(seqs.size()) * kPacketBytes;
    report_losses(bbr_, now_,
                  {.packets = lost,
                   .inflight_bytes = inflight_packets * kPacketBytes,
                   .timeout = timeout,
                   .delivered_bytes = delivered_,
                   .declared_lost_bytes = lost_bytes_,
                   .next_seq = next_seq()});
  }

  // Sends that many packets which are lost, each found by an ACK of its own.
  void send_and_lose(int count, int64_t inflight_packets) {
    std::vector<uint64_t> lost;
    for (int i = 0; i < count; ++i) {
      lost.push_back(next_seq());
      send(inflight_packets);
      send(inflight_packets);  // arrives: no two that are lost are neighbours
    }
    for (const uint64_t seq : lost) lose({seq});
  }

  // Ten packets in flight: more than two percent.
  std::vector<uint64_t> lose_of_a_window() {
    std::vector<uint64_t> lost;
    for (uint64_t back = 10; back > 0; --back) lost.push_back(next_seq() - back);
    lose(lost);
    return lost;
  }

  void reach(Mode mode, int64_t inflight_packets = kInflight) {
    for (int i = 0; i < 5000 && bbr_.mode() != mode; ++i) ack(kLinkMbps, inflight_packets);
    ASSERT_EQ(bbr_.mode(), mode);
  }

  [[nodiscard]] Time time_in(Mode mode) {
    const Time began = now_;
    while (bbr_.mode() == mode && now_ < began + seconds{20}) ack();
    return now_ - began;
  }

  // The pacing rate relative to the bandwidth of the rate samples.
  [[nodiscard]] double pacing_gain(double mbps = kLinkMbps) const {
    return bbr_.limits().pacing_rate->mbps() / (0.99 * mbps);  // section 2.5: PacingMarginPercent
  }
  [[nodiscard]] double cwnd() const {
    return static_cast<double>(bbr_.limits().cwnd_bytes) / static_cast<double>(kPacketBytes);
  }
  [[nodiscard]] double longterm() const { return bbr_.longterm_bytes() / static_cast<double>(kPacketBytes); }
  [[nodiscard]] double shortterm() const {
    return bbr_.shortterm_bytes() / static_cast<double>(kPacketBytes);
  }

  Bbr3 bbr_{kPacketBytes, 1};
  struct Departure {
    int64_t inflight_bytes{};
    int64_t lost_bytes{};
  };
  [[nodiscard]] uint64_t next_seq() const { return departures_.size(); }

  Time now_{};
  std::vector<Departure> departures_{};
  int64_t lost_bytes_{0};
  uint64_t arriving_seq_{0};
  std::set<uint64_t> lost_{};
  bool app_limited_{false};  // the packets that are lost
  int64_t delivered_{0};
  int64_t mark_next_{0};
};

// Section 5.6.2: 2.77 initial windows per round trip; of 1 ms, until there is one: 2.77 * 10 kB / 100 ms.
TEST_F(Bbr3Test, PacesTheInitialWindowByTheFirstRoundTrip) {
  EXPECT_NEAR(bbr_.limits().pacing_rate->mbps(), 2.77 * 80, 0.01);
  ack(0.1);
  EXPECT_NEAR(bbr_.limits().pacing_rate->mbps(), 2.77 * 0.8, 0.001);
}

// Section 5.3.1.1: two BDP in flight, and the packet by which an ACK runs ahead of them.
TEST_F(Bbr3Test, AllowsTwoBdpInFlightInStartup) {
  for (int i = 0; i < 3; ++i) round_trip();
  EXPECT_EQ(bbr_.mode(), Mode::startup);
  EXPECT_NEAR(cwnd(), 201, 1);
}

// Section 5.3.1.1, and A.1: 2.77 until three rounds have not brought a quarter more.
TEST_F(Bbr3Test, LeavesStartupAfterThreeRoundsWithoutGrowth) {
  for (const double mbps : {2.0, 4.0, 8.0}) round_trip(mbps);
  ack(8);
  EXPECT_NEAR(pacing_gain(), 2.77, 0.01);
  for (int i = 0; i < 99; ++i) ack(8, 250);
  round_trip(9, 250);  // 9 < 1.25 * 8
  EXPECT_EQ(bbr_.mode(), Mode::startup);
  round_trip(8, 250);
  ack(8, 250);
  EXPECT_EQ(bbr_.mode(), Mode::drain);
  EXPECT_NEAR(pacing_gain(9), 0.5, 0.001);  // section 5.3.2
}

// Section 5.3.1.3, and A.2: more than two percent lost in a round, in six ranges, while the bandwidth grows.
TEST_F(Bbr3Test, LeavesStartupWhenSixRangesOfARoundAreLost) {
  round_trip(2);
  send_and_lose(6, 200);
  for (int i = 0; i < kRoundPackets - 1; ++i) ack(4, 200);
  EXPECT_EQ(bbr_.mode(), Mode::startup);  // not before a round is over
  ack(4, 200);
  ack(4, 200);
  EXPECT_EQ(bbr_.mode(), Mode::drain);
  EXPECT_NEAR(longterm(), 50, 1);  // the BDP, and what a round delivered: 4 Mbit/s * 100 ms
}

TEST_F(Bbr3Test, StaysInStartupWhenFewerThanSixRangesAreLost) {
  round_trip(2);
  send_and_lose(5, 200);
  lose({next_seq() - 1});  // continues the fifth
  round_trip(4, 200);
  round_trip(8, 200);
  EXPECT_EQ(bbr_.mode(), Mode::startup);
}

// Section 5.3.2, and A.3: until no more than the BDP is in flight.
TEST_F(Bbr3Test, DrainsUntilTheBdpIsInFlight) {
  reach(Mode::drain, 250);
  ack(kLinkMbps, 101);
  EXPECT_EQ(bbr_.mode(), Mode::drain);
  ack(kLinkMbps, 99);
  EXPECT_EQ(bbr_.mode(), Mode::cruise);  // there is nothing left to bring down
}

// Section 5.3.2, and A.4: Drain ends after three rounds at the latest.
TEST_F(Bbr3Test, DrainsForThreeRoundsAtMost) {
  reach(Mode::drain, 250);
  for (int i = 0; i < 3 * kRoundPackets; ++i) ack(kLinkMbps, 250);
  EXPECT_EQ(bbr_.mode(), Mode::drain);
  for (int i = 0; i < kRoundPackets; ++i) ack(kLinkMbps, 250);
  EXPECT_EQ(bbr_.mode(), Mode::down);
}

// Section 5.6.1's table: 0.9 down, 1 cruising and refilling, 1.25 up; 2 BDP in flight, up 2.25 and two
// packets.
TEST_F(Bbr3Test, CyclesThroughItsGains) {
  reach(Mode::down, 250);
  ack(kLinkMbps, 101);
  EXPECT_NEAR(pacing_gain(), 0.9, 0.001);
  reach(Mode::cruise);  // less than the BDP of 100 packets in flight (A.8)
  EXPECT_NEAR(pacing_gain(), 1, 0.001);
  round_trip();
  round_trip();
  EXPECT_NEAR(cwnd(), 200, 2);
  reach(Mode::refill);
  EXPECT_NEAR(pacing_gain(), 1, 0.001);
  EXPECT_NEAR(static_cast<double>(time_in(Mode::refill) / milliseconds{1}), kRoundPackets, 1);
  ASSERT_EQ(bbr_.mode(), Mode::up);
  EXPECT_NEAR(pacing_gain(), 1.25, 0.001);
  round_trip();
  EXPECT_NEAR(cwnd(), 225 + 2, 2);
  EXPECT_NEAR(static_cast<double>(time_in(Mode::up) / milliseconds{1}), 2 * kRoundPackets,
              2);  // A.5: 3 rounds
  EXPECT_EQ(bbr_.mode(), Mode::down);
}

// Section 5.3.3.8.2: two to three seconds, where a BDP has more packets than they have round trips.
TEST_F(Bbr3Test, ProbesForBandwidthAfterTwoToThreeSeconds) {
  reach(Mode::cruise);
  const Time wait = time_in(Mode::cruise);
  EXPECT_GT(wait, seconds{2} - milliseconds{10});
  EXPECT_LT(wait, seconds{3} + milliseconds{10});
}

// A.9: the same while the queue does not drain.
TEST_F(Bbr3Test, ProbesForBandwidthThoughItHasNotDrained) {
  reach(Mode::down, 250);
  const Time began = now_;
  while (bbr_.mode() == Mode::down) ack(kLinkMbps, 120);
  EXPECT_EQ(bbr_.mode(), Mode::refill);
  EXPECT_GT(now_ - began, seconds{2} - milliseconds{10});
  EXPECT_LT(now_ - began, seconds{3} + milliseconds{10});
}

// Section 5.3.3.8.2: a BDP of ten packets, of which Reno would grow by one per round trip: after nine or ten.
TEST_F(Bbr3Test, ProbesAsOftenAsRenoWouldWhereTheBdpIsSmall) {
  constexpr double kSlowMbps = 0.8;
  for (int i = 0; i < 5000 && bbr_.mode() != Mode::cruise; ++i) ack(kSlowMbps, 4);
  ASSERT_EQ(bbr_.mode(), Mode::cruise);
  const Time began = now_;
  while (bbr_.mode() == Mode::cruise) ack(kSlowMbps, 4);
  EXPECT_GT(now_ - began, 8 * kRtt);
  EXPECT_LT(now_ - began, 11 * kRtt);
}

// Section 5.5.10.2: a loss rate of two percent is tolerated; above it what was in flight then is the bound:
// of 200 packets the fifth, 199 before it and (0.02 * 199 - 4) / 0.98 < 0 of it.
TEST_F(Bbr3Test, BoundsTheInflightThatLosesMoreThanTwoPercent) {
  reach(Mode::up);
  send_and_lose(4, 200);
  EXPECT_EQ(bbr_.mode(), Mode::up);
  send(200);
  lose({next_seq() - 1});  // nothing was lost nothing yet when it left
  EXPECT_EQ(bbr_.mode(), Mode::up);
  std::vector<uint64_t> lost;
  for (int i = 0; i < 5; ++i, send(200)) lost.push_back(next_seq());
  lose(lost);
  EXPECT_EQ(bbr_.mode(), Mode::down);
  EXPECT_NEAR(longterm(), 199, 0.01);
}

// Section 5.5.10.2: the bound is at least Beta = 0.7 times the BDP.
TEST_F(Bbr3Test, BoundsTheInflightByBetaAtLeast) {
  reach(Mode::up);
  std::vector<uint64_t> lost;
  for (int i = 0; i < 3; ++i, send(50)) lost.push_back(next_seq());
  lose(lost);
  EXPECT_NEAR(longterm(), 70, 0.5);
}

// Section 5.5.10.2: the inflight of an application-limited flow sets no bound, but the probe ends.
TEST_F(Bbr3Test, BoundsNothingByLossesOfAnApplicationThatHeldBack) {
  app_limited_ = true;
  reach(Mode::up);
  std::vector<uint64_t> lost;
  for (int i = 0; i < 3; ++i, send(50)) lost.push_back(next_seq());
  lose(lost);
  EXPECT_EQ(bbr_.mode(), Mode::down);
  EXPECT_EQ(bbr_.longterm_bytes(), InflightBounds::kNone);
}

// Section 5.6.1: while cruising 0.85 of the bound. Section 5.3.3.6: the next probing only reaches for the
// bound; it lost nothing, so after a round of feedback another follows at once, and now raises the bound.
TEST_F(Bbr3Test, ProbesWithCautionAfterItProbedTooHigh) {
  reach(Mode::up);
  std::vector<uint64_t> lost;
  for (int i = 0; i < 4; ++i, send(150)) lost.push_back(next_seq());
  lose(lost);
  ASSERT_NEAR(longterm(), 149, 0.01);
  reach(Mode::cruise);
  round_trip();
  round_trip();
  EXPECT_NEAR(cwnd(), 0.85 * 149, 0.5);
  reach(Mode::refill);
  reach(Mode::up);
  ack(kLinkMbps, 149);
  EXPECT_EQ(bbr_.mode(), Mode::down);
  for (int i = 0; i <= kRoundPackets; ++i) ack(kLinkMbps, 120);
  EXPECT_EQ(bbr_.mode(), Mode::refill);
  reach(Mode::up, 148);
  ack(kLinkMbps, 149);
  EXPECT_EQ(bbr_.mode(), Mode::up);
}

// Section 5.3.3.5: by one packet in the first round trip, by two, four and eight in the next ones.
TEST_F(Bbr3Test, RaisesTheBoundEverFaster) {
  reach(Mode::up);
  std::vector<uint64_t> lost;
  for (int i = 0; i < 4; ++i, send(100)) lost.push_back(next_seq());
  lose(lost);
  reach(Mode::refill, 50);
  reach(Mode::up, 50);
  ack(kLinkMbps, 99);  // with caution
  reach(Mode::refill, 80);
  reach(Mode::up, 98);
  std::vector<double> raised;
  for (int i = 0; i < 4; ++i) {
    const double before = longterm();
    for (int packet = 0; packet < kRoundPackets; ++packet) ack(kLinkMbps, static_cast<int64_t>(cwnd()));
    raised.push_back(longterm() - before);
  }
  EXPECT_NEAR(raised[0], 1, 1);
  EXPECT_NEAR(raised[1], 2, 1);
  EXPECT_NEAR(raised[2], 4, 1);
  EXPECT_NEAR(raised[3], 8, 1);
}

// Section 5.5.10.3: bandwidth and inflight become what a round delivered, or Beta, 0.7, of what they were;
// the next probing begins without them.
TEST_F(Bbr3Test, AdaptsToLossesWhileItCruises) {
  reach(Mode::cruise);
  round_trip();
  round_trip();
  round_trip(4);
  lose({next_seq() - 3});
  for (int i = 0; i <= kRoundPackets; ++i) ack(4);
  EXPECT_NEAR(pacing_gain(), 0.7, 0.001);
  EXPECT_NEAR(bbr_.shortterm_bytes(), 0.7 * 200 * kPacketBytes, 2 * kPacketBytes);
  EXPECT_NEAR(cwnd(), 140, 2);
  reach(Mode::refill);
  EXPECT_NEAR(pacing_gain(), 1, 0.001);
}

// Section 5.3.4, and A.10: after five seconds without a smaller RTT half of the BDP, for 200 ms and a round
// trip. Rate samples of that time do not lower the bandwidth.
TEST_F(Bbr3Test, HalvesTheInflightEveryFiveSeconds) {
  ack();
  while (now_ < seconds{5}) ack(kLinkMbps, kInflight, milliseconds{5});
  EXPECT_NE(bbr_.mode(), Mode::probe_rtt);
  ack(kLinkMbps, kInflight, milliseconds{5});
  ack(kLinkMbps, kInflight, milliseconds{5});
  ASSERT_EQ(bbr_.mode(), Mode::probe_rtt);
  EXPECT_NEAR(cwnd(), 50, 0.5);
  for (int i = 0; i < 200; ++i) ack(kLinkMbps / 2, 49);
  EXPECT_EQ(bbr_.mode(), Mode::probe_rtt);
  for (int i = 0; i < 2; ++i) ack(kLinkMbps / 2, 49);
  EXPECT_EQ(bbr_.mode(), Mode::cruise);
  EXPECT_NEAR(pacing_gain(), 1, 0.001);
  EXPECT_GT(cwnd(), 190);
}

// Section 2.16.1: a min RTT is valid for ten seconds, even if ProbeRTT after five measures a larger one.
TEST_F(Bbr3Test, BelievesTheSmallestRttForTenSeconds) {
  ack();
  const auto half_of_bdp = [this] {
    while (bbr_.mode() != Mode::probe_rtt) ack(kLinkMbps, kInflight, milliseconds{50});
    return cwnd();
  };
  EXPECT_NEAR(half_of_bdp(), 50, 0.5);
  EXPECT_LT(now_, seconds{6});
  while (bbr_.mode() == Mode::probe_rtt) ack(kLinkMbps, 40, milliseconds{50});
  EXPECT_NEAR(half_of_bdp(), 75, 0.5);  // 8 Mbit/s * 150 ms / 2
  EXPECT_GT(now_, seconds{10});
}

// Section 5.4.1.
TEST_F(Bbr3Test, DoesNotProbeForTheSmallestRttAfterAnIdleTime) {
  reach(Mode::cruise);
  now_ += seconds{6};
  bbr_.on_restart(now_, seconds{6});
  EXPECT_NEAR(pacing_gain(), 1, 0.01);
  ack(kLinkMbps, kInflight, milliseconds{5});
  EXPECT_NE(bbr_.mode(), Mode::probe_rtt);
}

// Section 5.5.11.2, and A.19: the window, the bounds, and the probing that the losses had ended.
TEST_F(Bbr3Test, TakesBackWhatASpuriousTimeoutTold) {
  reach(Mode::up);
  const double before = cwnd();
  std::vector<uint64_t> lost;
  for (int i = 0; i < 100; ++i, send(100)) lost.push_back(next_seq());
  lose(lost, 0, /*timeout=*/true);
  ASSERT_EQ(bbr_.mode(), Mode::down);
  ASSERT_EQ(cwnd(), 1);
  ASSERT_LT(longterm(), 101);
  bbr_.on_spurious_loss(now_, {.timeout = true});
  EXPECT_EQ(bbr_.mode(), Mode::refill);
  EXPECT_EQ(cwnd(), before);
  EXPECT_GT(longterm(), 1e9);
}

// Section 5.5.11.2: the bounds as they were before the first loss of the recovery, and the probing.
TEST_F(Bbr3Test, TakesBackWhatLossesTaughtOnceAllHaveArrived) {
  reach(Mode::up);
  const double before = cwnd();
  const std::vector<uint64_t> lost = lose_of_a_window();
  ASSERT_EQ(bbr_.mode(), Mode::down);
  ASSERT_LT(longterm(), 101);
  round_trip();
  round_trip();
  ASSERT_LT(shortterm(), 1e9);
  for (const uint64_t seq : lost) {
    EXPECT_NE(bbr_.mode(), Mode::refill);
    bbr_.on_spurious_loss(now_, {.seq = seq});
  }
  EXPECT_EQ(bbr_.mode(), Mode::refill);
  EXPECT_GE(cwnd(), before);
  EXPECT_GT(longterm(), 1e9);
  EXPECT_GT(shortterm(), 1e9);
}

TEST_F(Bbr3Test, KeepsWhatLossesTaughtWhereOneOfThemIsGenuine) {
  reach(Mode::up);
  const std::vector<uint64_t> lost = lose_of_a_window();
  for (const uint64_t seq : lost) {
    if (seq != lost.back()) bbr_.on_spurious_loss(now_, {.seq = seq});
  }
  EXPECT_LT(longterm(), 101);
  EXPECT_NE(bbr_.mode(), Mode::refill);
}

// Spurious losses had ended Startup: it continues.
TEST_F(Bbr3Test, GoesBackToStartupOnceAllThatSeemedLostHasArrived) {
  round_trip(2);
  const uint64_t first = next_seq();
  send_and_lose(6, 200);
  for (int i = 0; i < kRoundPackets + 1; ++i) ack(4, 200);
  ASSERT_EQ(bbr_.mode(), Mode::drain);
  for (uint64_t seq = first; seq < first + 12; seq += 2) bbr_.on_spurious_loss(now_, {.seq = seq});
  EXPECT_EQ(bbr_.mode(), Mode::startup);
  EXPECT_GT(longterm(), 1e9);
}

// Section 5.5.11.2: bw_shortterm, which the losses had lowered, is restored.
TEST_F(Bbr3Test, PacesAsBeforeLossesThatWereNone) {
  reach(Mode::cruise);
  round_trip(0.6 * kLinkMbps);
  const std::vector<uint64_t> lost = lose_of_a_window();
  for (int i = 0; i < 2; ++i) round_trip(0.6 * kLinkMbps);
  ASSERT_NEAR(pacing_gain(), 0.7, 0.01);
  for (const uint64_t seq : lost) bbr_.on_spurious_loss(now_, {.seq = seq});
  ack();
  EXPECT_NEAR(pacing_gain(), 1, 0.01);
}

// Section 5.5.11.2: in ProbeRTT the bounds are restored, and the mode stays.
TEST_F(Bbr3Test, DoesNotLeaveProbeRttForLossesThatWereNone) {
  reach(Mode::up);
  const std::vector<uint64_t> lost = lose_of_a_window();
  while (bbr_.mode() != Mode::probe_rtt) ack(kLinkMbps, kInflight, milliseconds{5});
  for (const uint64_t seq : lost) bbr_.on_spurious_loss(now_, {.seq = seq});
  EXPECT_EQ(bbr_.mode(), Mode::probe_rtt);
  EXPECT_GT(longterm(), 1e9);
}

// Section 5.5.11.2: full_bw_reached is false again, so that Startup continues after ProbeRTT.
TEST_F(Bbr3Test, GoesBackToStartupAfterProbeRttOnceAllThatSeemedLostHasArrived) {
  round_trip(2);
  const uint64_t first = next_seq();
  send_and_lose(6, 200);
  while (bbr_.mode() != Mode::probe_rtt) ack(4, 200, milliseconds{5});
  for (uint64_t seq = first; seq < first + 12; seq += 2) bbr_.on_spurious_loss(now_, {.seq = seq});
  ASSERT_EQ(bbr_.mode(), Mode::probe_rtt);
  while (bbr_.mode() == Mode::probe_rtt) ack(4, 4, milliseconds{5});
  EXPECT_EQ(bbr_.mode(), Mode::startup);
}

TEST_F(Bbr3Test, KeepsWhatLossesTaughtWhereMarksTellOfCongestionToo) {
  reach(Mode::up);
  const std::vector<uint64_t> lost = lose_of_a_window();
  mark_next_ = 1;
  ack();
  for (const uint64_t seq : lost) bbr_.on_spurious_loss(now_, {.seq = seq});
  EXPECT_LT(longterm(), 101);
}

// The losses belong to one recovery, which is undone as a whole.
TEST_F(Bbr3Test, TakesBackLossesOfLaterPacketsWithThoseTheRecoveryBeganFor) {
  reach(Mode::up);
  const std::vector<uint64_t> first = lose_of_a_window();
  for (int i = 0; i < 10; ++i) send(100);
  for (const uint64_t seq : lose_of_a_window()) bbr_.on_spurious_loss(now_, {.seq = seq});
  EXPECT_LT(longterm(), 101);
  for (const uint64_t seq : first) bbr_.on_spurious_loss(now_, {.seq = seq});
  EXPECT_GT(longterm(), 1e9);
}

TEST_F(Bbr3Test, LowersNothingForLossesThatWereNone) {
  reach(Mode::cruise);
  for (const uint64_t seq : lose_of_a_window()) bbr_.on_spurious_loss(now_, {.seq = seq});
  round_trip();
  round_trip();
  EXPECT_GT(shortterm(), 1e9);
}

TEST_F(Bbr3Test, LooksForGrowthAnewAfterLossesThatWereNone) {
  for (int i = 0; i < 3; ++i) round_trip();
  ASSERT_EQ(bbr_.mode(), Mode::startup);
  for (const uint64_t seq : lose_of_a_window()) bbr_.on_spurious_loss(now_, {.seq = seq});
  for (int i = 0; i < 3; ++i) round_trip();
  EXPECT_EQ(bbr_.mode(), Mode::startup);
}

TEST_F(Bbr3Test, RecoversFromATimeoutUntilWhatLeftAfterItArrives) {
  reach(Mode::cruise);
  const double before = cwnd();
  lose({next_seq() - 1}, 0, /*timeout=*/true);
  for (int i = 0; i < kRoundPackets - 1; ++i) ack(kLinkMbps, 1);
  EXPECT_LT(cwnd(), before - 50);
  for (int i = 0; i < 2; ++i) ack(kLinkMbps, 1);
  EXPECT_NEAR(cwnd(), before, 3);
}

}  // namespace
}  // namespace ccgym
