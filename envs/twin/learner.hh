// A `policy` controller whose actions come from the gym.
//
// Several learners on one path decide at the same instants, at whole steps of the path's time, so that their
// actions can be given together. A single learner keeps the clock that it has in deployment.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "agents/policy/policy.hh"
#include "transport/controller_config.hh"
#include "transport/forwarding_controller.hh"

namespace ccgym {

class Learner final : public ForwardingController<PolicyController> {
 public:
  // `clock`: the step of the common decisions; 0 for a learner with its own clock.
  Learner(const PolicySpec& spec, const ControllerConfig& config, Time clock)
      : ForwardingController{PolicyController{spec, config}}, start_(config.started_at), clock_(clock) {}

  [[nodiscard]] std::string_view name() const override { return "learner"; }
  void on_ack(Time now, const AckEvent& ack) override {
    last_ack_at_ = now;
    inner().on_ack(now, ack);
  }
  [[nodiscard]] std::optional<Time> next_timer() const override {
    const std::optional<Time> due = inner().next_timer();
    if (!due || clock_ == Time{}) return due;
    // An ACK that ends a silence leads to a decision at once.
    const Time earliest = std::max(*due, last_ack_at_);
    const auto steps = (earliest + start_ + clock_ - Time{1}) / clock_;
    return steps * clock_ - start_;
  }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Learner>(*this);
  }

  [[nodiscard]] PolicyController& policy() { return inner(); }
  [[nodiscard]] const PolicyController& policy() const { return inner(); }

 private:
  Time start_;
  Time clock_;
  Time last_ack_at_{};
};

}  // namespace ccgym
