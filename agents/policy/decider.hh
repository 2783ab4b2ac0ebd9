// The second part of a policy: from an observation to an action.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "agents/policy/action_sets.hh"
#include "agents/policy/policy_network.hh"
#include "transport/cloned.hh"

namespace ccgym {

// Either the network of a policy file, which answers at once; or, without one, the caller, such as the gym
// for a whole batch, which answers later.
class Decider {
 public:
  Decider(ActionSet actions, std::unique_ptr<PolicyNetwork> network)
      : actions_{actions}, network_{std::move(network)} {}

  // nullopt: the caller decides.
  [[nodiscard]] std::optional<Act> decide(std::span<const float> observation) {
    if (!network_) return std::nullopt;
    return choose_act(actions_, network_->step(observation));
  }

 private:
  ActionSet actions_;
  Cloned<PolicyNetwork> network_;
};

}  // namespace ccgym
