#include "agents/controllers/pcc/pcc.hh"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ccgym {

namespace {

constexpr double kInitialRttSeconds = 0.1;   // until the first ACK
constexpr double kInitialPacketsPerRtt = 2;  // Allegro section 3.2: 2 MSS/RTT
constexpr int64_t kMinPackets = 10;          // Allegro section 3.1: time to send 10 packets
constexpr std::size_t kMaxOutstanding = 64;  // intervals without feedback: the rate is held
constexpr double kWindowSeconds = 2;         // PCC has no window: a bound for the sender's memory
constexpr int64_t kMinWindowPackets = 10;

}  // namespace

Pcc::Pcc(int64_t packet_bytes, uint64_t seed, IntervalRtts interval_rtts,
         std::unique_ptr<RateLearner> learner)
    : packet_bytes_{packet_bytes},
      interval_rtts_{interval_rtts},
      learner_{std::move(learner)},
      random_{seed},
      rate_mbps_{kInitialPacketsPerRtt * packet_megabits() / kInitialRttSeconds} {}

void Pcc::on_sent(Time /*now*/, const SentPacket& packet) { intervals_.on_sent(packet.seq); }

void Pcc::on_ack(Time now, const AckedPacket& packet) {
  smoothed_rtt_ = packet.rtt.smoothed;
  if (!interval_ends_) {
    const double rtt_s = std::max(1e-3, std::chrono::duration<double>{packet.rtt.latest}.count());
    learner_->start(kInitialPacketsPerRtt * packet_megabits() / rtt_s);
    return begin_interval(now);
  }
  intervals_.on_ack(packet);
  learn(now);
}

void Pcc::on_loss(Time now, const Loss& loss) {
  intervals_.on_loss(loss);
  learn(now);
}

void Pcc::on_timer(Time now) { begin_interval(now); }

// Without feedback for many intervals nothing new is tried.
void Pcc::begin_interval(Time now) {
  if (intervals_.outstanding() < kMaxOutstanding) {
    const RateLearner::Trial trial = learner_->next();
    rate_mbps_ = trial.rate_mbps;
    intervals_.open(now, trial.id, rate_mbps_);
  }
  interval_ends_ = now + interval_length();
}

void Pcc::learn(Time now) {
  bool changed = false;
  while (const std::optional<MonitorInterval> result = intervals_.take_settled()) {
    changed |= learner_->learn(*result);
  }
  if (changed) begin_interval(now);
}

// Allegro section 3.1: T_m, the longer of ten packets' time and a random number of RTTs.
Time Pcc::interval_length() {
  const double share = static_cast<double>(random_() >> 11) * 0x1.0p-53;
  const double rtts = interval_rtts_.least + share * (interval_rtts_.most - interval_rtts_.least);
  const double packets_s = static_cast<double>(kMinPackets) * packet_megabits() / rate_mbps_;
  const double rtts_s = rtts * std::chrono::duration<double>{smoothed_rtt_}.count();
  return Time{static_cast<int64_t>(1e9 * std::max(packets_s, rtts_s))};
}

SendLimits Pcc::limits() const {
  const auto window_bytes = static_cast<int64_t>(rate_mbps_ * 1e6 / 8 * kWindowSeconds);
  return {.cwnd_bytes = std::max(window_bytes, kMinWindowPackets * packet_bytes_), .pacing_mbps = rate_mbps_};
}

}  // namespace ccgym
