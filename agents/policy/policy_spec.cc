#include "agents/policy/policy_spec.hh"

#include <stdexcept>
#include <string>

namespace ccgym {

PolicySpec checked_policy(const PolicySpec& spec) {
  if (spec.companion && spec.actions != ActionSet::log_window) {
    throw std::invalid_argument("companion goes with actions log_window, not with " +
                                std::string{action_set_name(spec.actions)});
  }
  return spec;
}

}  // namespace ccgym
