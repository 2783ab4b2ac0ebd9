#include "agents/controllers/policy/queue_drain.hh"

#include <algorithm>

namespace ccgym {

namespace {

constexpr int kDrainRtts = 15;          // without an empty queue before a drain
constexpr int kEmptyPart = 16;          // empty: no more than this part of the standing queue is left
constexpr double kDrainedShare = 0.85;  // of what the path holds: the rest makes up for flows that are late
constexpr double kLeastPackets = 2;

double ratio(Time a, Time b) { return static_cast<double>(a.count()) / static_cast<double>(b.count()); }

}  // namespace

std::optional<Drained> QueueDrain::on_ack(Time now, const RttStats& rtt, double cwnd_packets) {
  const bool empty = rtt.latest - rtt.min <= (rtt.smoothed - rtt.min) / kEmptyPart;
  if (empty || !empty_at_) empty_at_ = now;
  if (phase_ == Phase::filled) {
    if (now - *empty_at_ > kDrainRtts * rtt.smoothed) begin(now, rtt, cwnd_packets);
    return std::nullopt;
  }
  follow(now, rtt);
  if (phase_ != Phase::filled) return std::nullopt;
  const double left = ratio(least_rtt_ - rtt.min, std::max(smoothed_rtt_ - rtt.min, Time{1}));
  return Drained{.cwnd_packets = cwnd_packets_, .smoothed_rtt = smoothed_rtt_, .left = left};
}

double QueueDrain::limit(double cwnd_packets) const {
  return limiting() ? std::min(cwnd_packets, drained_cwnd_packets_) : cwnd_packets;
}

void QueueDrain::begin(Time now, const RttStats& rtt, double cwnd_packets) {
  cwnd_packets_ = cwnd_packets;
  smoothed_rtt_ = least_rtt_ = rtt.smoothed;
  drained_cwnd_packets_ =
      std::max(kLeastPackets, kDrainedShare * cwnd_packets * ratio(rtt.min, rtt.smoothed));
  phase_ = Phase::draining;
  ends_at_ = now + rtt.smoothed;
}

void QueueDrain::follow(Time now, const RttStats& rtt) {
  least_rtt_ = std::min(least_rtt_, rtt.latest);
  if (now <= ends_at_) return;
  if (phase_ == Phase::draining) empty_at_ = now;
  phase_ = phase_ == Phase::draining ? Phase::watching : Phase::filled;
  ends_at_ = now + rtt.min;
}

}  // namespace ccgym
