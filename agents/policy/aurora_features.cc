#include "agents/policy/aurora_features.hh"

#include <algorithm>

namespace ccgym {

namespace {

constexpr double kMaxAbsValue = 4;

double in_ns(Time time) { return static_cast<double>(std::max(time, Time{1}).count()); }

}  // namespace

AuroraFeatures::AuroraFeatures() { history_.fill({0, 1, 1}); }

double AuroraFeatures::send_ratio() const {
  const double sent = static_cast<double>(latest_.bytes_sent_since) / in_ns(latest_.rtt);
  const double delivered =
      static_cast<double>(latest_.delivered_bytes) / in_ns(std::max(latest_.ack_interval, latest_.min_rtt));
  return delivered > 0 ? sent / delivered : 1;
}

// A step without ACKs repeats the ratios of the step before, with a latency gradient of 0.
AuroraFeatures::Entry AuroraFeatures::close_step(Time now) {
  Entry entry{0, history_.back()[1], history_.back()[2]};
  if (acks_ > 0) {
    const double rtt_ns = static_cast<double>(rtt_sum_.count()) / static_cast<double>(acks_);
    if (last_rtt_ns_ > 0) entry[0] = (rtt_ns - last_rtt_ns_) / in_ns(now - last_step_end_);
    entry[1] = rtt_ns / in_ns(latest_.min_rtt);
    entry[2] = send_ratio();
    last_rtt_ns_ = rtt_ns;
    last_step_end_ = now;
  }
  acks_ = 0;
  rtt_sum_ = {};
  return entry;
}

void AuroraFeatures::observe(Time now, const OwnState& /*own*/, std::span<float> observation) {
  const Entry newest = close_step(now);
  std::rotate(history_.begin(), history_.begin() + 1, history_.end());
  history_.back() = newest;
  for (std::size_t i = 0; i < kDivisors.size(); ++i) {
    const double value = history_[i / kPerStep][i % kPerStep] / kDivisors[i];
    observation[i] = static_cast<float>(std::clamp(value, -kMaxAbsValue, kMaxAbsValue));
  }
}

}  // namespace ccgym
