// A learned policy as a congestion controller: every step it observes, decides and acts.
//
// In the gym the decision comes from outside, for a whole batch (`awaiting_action`, `act`); in deployment the
// exported network decides at once. Both run this class, so that features and actions are the same to the
// bit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "agents/policy/actuator.hh"
#include "agents/policy/decider.hh"
#include "agents/policy/observer.hh"
#include "agents/policy/policy_network.hh"
#include "agents/policy/policy_spec.hh"
#include "transport/cloned.hh"
#include "transport/congestion_controller.hh"
#include "transport/controller_config.hh"

namespace ccgym {

class PolicyController final : public CongestionController {
 public:
  // Without a network the controller waits for `act` after each observation. Throws as checked_policy does.
  PolicyController(const PolicySpec& spec, const ControllerConfig& config,
                   std::unique_ptr<PolicyNetwork> network = nullptr);

  [[nodiscard]] std::string_view name() const override { return "policy"; }
  void on_sent(Time now, const SentPacket& /*packet*/) override { observer_.on_sent(now); }
  void on_ack(Time now, const AckEvent& ack) override {
    if (!ack.lost.empty()) note_losses(now, ack.lost, ack.inflight_bytes);
    if (ack.acked.empty()) return;
    observer_.on_ack(now, ack);
    actuator_->on_ack(now, ack);
  }
  void on_timeout(Time now, const Timeout& timeout) override { note_losses(now, timeout.lost, 0); }
  [[nodiscard]] std::optional<Time> next_timer() const override {
    return awaiting_action_ ? std::nullopt : observer_.step_ends_at();
  }
  void on_timer(Time now, const Timer& timer) override;
  // Returned member by member, so that they stay in registers: it is called twice for every packet.
  [[nodiscard]] SendLimits limits() const override {
    const SendLimits& kept = actuator_->limits();
    return {kept.cwnd_bytes, kept.pacing_rate, kept.holds_back, kept.ack_clocked};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override { return actuator_->metrics(); }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<PolicyController>(*this);
  }

  [[nodiscard]] bool awaiting_action() const { return awaiting_action_; }
  [[nodiscard]] std::span<const float> observation() const { return observer_.observation(); }
  [[nodiscard]] StepRtt step_rtt() const { return observer_.step_rtt(); }  // of the observed step
  [[nodiscard]] double cwnd_packets() const { return actuator_->cwnd_packets(); }
  void act(Act action);  // throws std::invalid_argument for an invalid action
  void set_cwnd(double cwnd_packets) { actuator_->set_cwnd(cwnd_packets); }

 private:
  void note_losses(Time now, std::span<const LostPacket> lost, int64_t inflight_bytes) {
    observer_.on_loss(lost);
    actuator_->on_loss(now, lost, inflight_bytes);
  }

  Observer observer_;
  Decider decider_;
  Cloned<Actuator> actuator_;
  bool awaiting_action_{false};
};

}  // namespace ccgym
