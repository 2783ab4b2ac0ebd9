#include "agents/policy/observer.hh"

#include <utility>

namespace ccgym {

Observer::Observer(const PolicySpec& spec, int64_t packet_bytes)
    : step_(spec.step),
      features_(spec.feature_set, packet_bytes, spec.preference),
      observation_(feature_divisors(spec.feature_set).size()) {}

void Observer::close_step(Time now, const OwnState& own) {
  features_.observe(now, own, observation_);
  step_began_ = now;
  acked_in_step_ = false;
  closed_rtts_ = std::exchange(rtts_, {});
}

StepRtt Observer::step_rtt() const {
  if (closed_rtts_.acks == 0) return {};
  const double total_ms = in_ms(closed_rtts_.total);
  return {total_ms / static_cast<double>(closed_rtts_.acks), in_ms(closed_rtts_.max)};
}

}  // namespace ccgym
