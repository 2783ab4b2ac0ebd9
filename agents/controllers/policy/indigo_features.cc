#include "agents/controllers/policy/indigo_features.hh"

#include <algorithm>

namespace ccgym {

namespace {

int64_t whole_ms(Time time) { return std::chrono::duration_cast<std::chrono::milliseconds>(time).count(); }

double mbps(int64_t bytes, int64_t interval_ms) {
  return 0.008 * static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(1, interval_ms));
}

}  // namespace

void IndigoFeatures::on_ack(Time now, const AckedPacket& packet) {
  const int64_t rtt_ms = whole_ms(now) - whole_ms(packet.sent_at);
  const int64_t delivery_ms = whole_ms(now) - whole_ms(now - packet.rate.ack_interval);
  min_rtt_ms_ = std::min(min_rtt_ms_, rtt_ms);
  delay_ms_.add(static_cast<double>(rtt_ms - min_rtt_ms_));
  delivery_mbps_.add(mbps(packet.rate.delivered_bytes, delivery_ms));
  sending_mbps_.add(mbps(packet.bytes_sent_since, rtt_ms));
}

void IndigoFeatures::observe(Time /*now*/, double cwnd_packets, std::span<float> observation) {
  const std::array<double, 4> raw{delay_ms_.take(), delivery_mbps_.take(), sending_mbps_.take(),
                                  cwnd_packets};
  for (std::size_t i = 0; i < raw.size(); ++i) observation[i] = static_cast<float>(raw[i]) / kDivisors[i];
  for (std::size_t action = 0; action < kActions; ++action) {
    observation[raw.size() + action] = action == previous_action_ ? 1.0F : 0.0F;
  }
}

}  // namespace ccgym
