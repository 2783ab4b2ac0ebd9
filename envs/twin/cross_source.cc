#include "envs/twin/cross_source.hh"

#include <algorithm>

#include "envs/twin/packet_sizes.hh"

namespace ccgym {

CrossSource::CrossSource(const CrossTraffic& traffic, Timing timing)
    : traffic_(traffic),
      timing_(timing),
      tun_bytes_(traffic.packet_bytes + kTunHeaderBytes),
      spacing_ms_(8e-3 * traffic.packet_bytes / traffic.rate_mbps),
      random_(traffic.seed),
      at_ms_(traffic.start_ms) {
  if (traffic_.kind == CrossTrafficKind::poisson) at_ms_ += gap_ms();
  if (traffic_.kind == CrossTrafficKind::onoff) {
    check_sojourns(traffic_.mean_on_ms, traffic_.mean_off_ms);
    on_period_ends_ms_ = at_ms_ + random_.exponential(traffic_.mean_on_ms);
  }
  skip_off_periods();
  update_next();
}

void CrossSource::advance() {
  at_ms_ += gap_ms();
  skip_off_periods();
  update_next();
}

double CrossSource::gap_ms() {
  return traffic_.kind == CrossTrafficKind::poisson ? random_.exponential(spacing_ms_) : spacing_ms_;
}

// A datagram due after the end of its on-period is sent at the beginning of the next one.
void CrossSource::skip_off_periods() {
  if (traffic_.kind != CrossTrafficKind::onoff) return;
  while (at_ms_ >= on_period_ends_ms_) {
    at_ms_ = on_period_ends_ms_ + random_.exponential(traffic_.mean_off_ms);
    on_period_ends_ms_ = at_ms_ + random_.exponential(traffic_.mean_on_ms);
  }
}

void CrossSource::update_next() {
  const bool comes = at_ms_ < std::min(traffic_.stop_ms, kMaxMs);
  next_ns_ = comes ? clock_ns(timing_, static_cast<int64_t>(at_ms_ * kNsPerMs)) : kNeverNs;
}

CrossSources::CrossSources(std::span<const CrossTraffic> traffic, Timing timing) {
  for (const CrossTraffic& each : traffic) sources_.emplace_back(each, timing);
  find_next();
}

int64_t CrossSources::take() {
  CrossSource& source = sources_[next_];
  source.advance();
  find_next();
  return source.tun_bytes();
}

void CrossSources::find_next() {
  next_ns_ = kNeverNs;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].next_ns() >= next_ns_) continue;
    next_ = i;
    next_ns_ = sources_[i].next_ns();
  }
}

}  // namespace ccgym
