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

}  // namespace ccgym
