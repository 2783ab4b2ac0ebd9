// A `policy` controller whose actions come from the gym.
//
// Where several learn on one path they decide at the same instants, the whole steps of the path's time,
// so that their actions can be given together. One that is alone keeps the clock it has in deployment.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "agents/policy/policy.hh"

namespace ccgym {

class Learner final : public CongestionController {
 public:
  // `start` of its flow; `clock` is the step of the common decisions, 0 for a learner of its own clock.
  Learner(const PolicySpec& spec, int64_t packet_bytes, Time start, Time clock)
      : policy_(spec, packet_bytes), start_(start), clock_(clock) {}

  [[nodiscard]] std::string_view name() const override { return "learner"; }
  void on_sent(Time now, const SentPacket& packet) override { policy_.on_sent(now, packet); }
  void on_ack(Time now, const AckedPacket& packet) override {
    heard_at_ = now;
    policy_.on_ack(now, packet);
  }
  void on_loss(Time now, const Loss& loss) override { policy_.on_loss(now, loss); }
  void on_timer(Time now) override { policy_.on_timer(now); }
  [[nodiscard]] SendLimits limits() const override { return policy_.limits(); }
  [[nodiscard]] std::optional<Time> next_timer() const override {
    const std::optional<Time> due = policy_.next_timer();
    if (!due || clock_ == Time{}) return due;
    const Time earliest = std::max(*due, heard_at_);  // an ACK after a silence is decided on at once
    const auto steps = (earliest + start_ + clock_ - Time{1}) / clock_;
    return steps * clock_ - start_;
  }

  [[nodiscard]] PolicyController& policy() { return policy_; }
  [[nodiscard]] const PolicyController& policy() const { return policy_; }

 private:
  PolicyController policy_;
  Time start_;
  Time clock_;
  Time heard_at_{};
};

}  // namespace ccgym
