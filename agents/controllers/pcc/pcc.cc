#include "agents/controllers/pcc/pcc.hh"

#include <algorithm>
#include <utility>

#include "agents/controllers/rate_limits.hh"

namespace ccgym {

namespace {

constexpr double kInitialRttSeconds = 0.1;   // until the first ACK
constexpr double kMinRttSeconds = 1e-3;      // bounds the first rate, 2 MSS/RTT
constexpr double kInitialPacketsPerRtt = 2;  // Allegro section 3.2: 2 MSS/RTT
constexpr int64_t kMinPackets = 10;          // Allegro section 3.1: an interval is long enough for 10 packets
constexpr std::size_t kMaxOutstanding = 64;  // with so many intervals without feedback the rate is held

}  // namespace

Pcc::Pcc(int64_t packet_bytes, uint64_t seed, IntervalRtts interval_rtts,
         std::unique_ptr<RateLearner> learner)
    : packet_bytes_{packet_bytes},
      interval_rtts_{interval_rtts},
      learner_{std::move(learner)},
      random_{seed},
      intervals_{packet_bytes},
      rate_mbps_{kInitialPacketsPerRtt * packet_megabits() / kInitialRttSeconds},
      limits_{limits_at(Time{})} {}

void Pcc::on_sent(Time now, const SentPacket& packet) {
  if (next_trial_) open_interval(now, packet);
  intervals_.on_sent();
}

void Pcc::on_ack(Time now, const AckEvent& ack) {
  has_started_ ? take_feedback(now, ack) : start(ack.rtt.latest);
  limits_ = limits_at(ack.rtt.smoothed);
}

void Pcc::take_feedback(Time now, const AckEvent& ack) {
  intervals_.on_ack(now, ack);
  learn();
  // An RTT sample inflated by an outage would keep the open interval too long: it ends earlier if the RTT
  // falls.
  if (interval_ends_) interval_ends_ = std::min(*interval_ends_, end_of_interval(ack.rtt.smoothed));
}

// While too many intervals wait for feedback, the open one is extended, and no new rate is tried.
void Pcc::on_timer(Time now, const Timer& timer) {
  if (intervals_.outstanding() < kMaxOutstanding) {
    next_interval();
    limits_ = limits_at(timer.rtt.smoothed);
    return;
  }
  interval_began_ = now;
  interval_ends_ = end_of_interval(timer.rtt.smoothed);
}

void Pcc::start(Time rtt) {
  has_started_ = true;
  const double rtt_s = std::max(kMinRttSeconds, in_seconds(rtt));
  learner_->start(kInitialPacketsPerRtt * packet_megabits() / rtt_s);
  next_interval();
}

void Pcc::next_interval() {
  interval_ends_ = std::nullopt;
  next_trial_ = learner_->next();
  rate_mbps_ = next_trial_->rate_mbps;
}

// An interval opens with its first packet, so that there is no empty one while the window is closed.
void Pcc::open_interval(Time now, const SentPacket& first) {
  intervals_.open(now, first.seq, next_trial_->id, rate_mbps_);
  next_trial_ = std::nullopt;
  interval_began_ = now;
  rtts_of_interval_ = interval_rtts_.least + random_.uniform() * (interval_rtts_.most - interval_rtts_.least);
  interval_ends_ = end_of_interval(first.smoothed_rtt);
}

void Pcc::learn() {
  bool changed = false;
  while (const std::optional<MonitorInterval> result = intervals_.take_settled()) {
    changed |= learner_->learn(*result);
  }
  if (changed) next_interval();
}

// Allegro section 3.1: T_m, the longer of the time for ten packets and a random number of RTTs.
Time Pcc::end_of_interval(Time smoothed_rtt) const {
  const double packets_s = static_cast<double>(kMinPackets) * packet_megabits() / rate_mbps_;
  const double rtts_s = rtts_of_interval_ * in_seconds(smoothed_rtt);
  return interval_began_ + Time{static_cast<int64_t>(1e9 * std::max(packets_s, rtts_s))};
}

SendLimits Pcc::limits_at(Time smoothed_rtt) const {
  return rate_limits(Rate::from_mbps(rate_mbps_), smoothed_rtt, packet_bytes_);
}

}  // namespace ccgym
