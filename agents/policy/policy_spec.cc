#include "agents/policy/policy_spec.hh"

#include <stdexcept>
#include <string>

namespace ccgym {

PolicySpec checked_policy(const PolicySpec& spec) {
  if (spec.companion && spec.actions != ActionSet::log_window) {
    throw std::invalid_argument("companion goes with actions log_window, not with " +
                                std::string{action_set_name(spec.actions)});
  }
  if (!(spec.preference >= 0 && spec.preference <= 1)) {
    throw std::invalid_argument("policy: preference is " + std::to_string(spec.preference) +
                                ", should be from 0, low delay, to 1, full throughput");
  }
  return spec;
}

PolicySpec with_preference(const PolicySpec& spec, double preference) {
  if (!holds_preference(spec.feature_set)) {
    throw std::invalid_argument("policy: preference is " + std::to_string(preference) +
                                ", should be left out: this policy has no preference");
  }
  PolicySpec other = spec;
  other.preference = preference;
  return checked_policy(other);
}

}  // namespace ccgym
