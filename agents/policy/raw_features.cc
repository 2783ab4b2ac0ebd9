#include "agents/policy/raw_features.hh"

namespace ccgym {

void RawFeatures::observe(Time now, const OwnState& own, std::span<float> observation) {
  const bool has_acks = step_.acks > 0;
  const auto per_ack = [&](double sum) { return has_acks ? sum / static_cast<double>(step_.acks) : 0; };
  const std::array<double, kNames.size()> values{
      in_ms(now),
      in_ms(now - step_start_),
      static_cast<double>(step_.acks),
      static_cast<double>(step_.packets),
      static_cast<double>(step_.bytes),
      static_cast<double>(step_.lost_packets),
      static_cast<double>(step_.lost_bytes),
      static_cast<double>(step_.ce_packets),
      in_ms(latest_.rtt.min),
      has_acks ? in_ms(step_.least_rtt) : 0,
      per_ack(step_.rtt_sum_ms),
      in_ms(latest_.rtt.latest),
      in_ms(latest_.rtt.smoothed),
      rtt_deviation_ms_,
      in_ms(least_one_way_.value_or(Time{})),
      per_ack(step_.one_way_queueing_sum_ms),
      last_one_way_queueing_ms_,
      arrival_interval_ms(),
      mbps(latest_.delivered_bytes, latest_.ack_interval),
      in_ms(latest_.ack_interval),
      mbps(latest_.bytes_sent_since, latest_.rtt.latest),
      static_cast<double>(latest_.inflight_bytes) / packet_bytes_,
      own.cwnd_packets,
      static_cast<double>(latest_.limited_by),
  };
  std::ranges::transform(values, observation.begin(), [](double value) { return static_cast<float>(value); });
  if (has_acks) step_arrival_ = last_arrival_;
  step_ = {};
  step_start_ = now;
}

}  // namespace ccgym
