#include "agents/policy/policy.hh"

#include <utility>

namespace ccgym {

PolicyController::PolicyController(const PolicySpec& spec, const ControllerConfig& config,
                                   std::unique_ptr<PolicyNetwork> network)
    : observer_{checked_policy(spec), config.packet_bytes},
      decider_{spec.actions, std::move(network)},
      actuator_{make_actuator(spec, config)} {}

void PolicyController::on_timer(Time now, const Timer& /*timer*/) {
  observer_.close_step(now, actuator_->own_state());
  awaiting_action_ = true;
  if (const auto action = decider_.decide(observer_.observation())) act(*action);
}

void PolicyController::act(Act action) {
  observer_.on_action(actuator_->act(observer_.step_began(), action));
  awaiting_action_ = false;
}

}  // namespace ccgym
