#include "agents/policy/actuator.hh"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "agents/companion/companion.hh"
#include "agents/companion/shallow_queue.hh"
#include "agents/companion/slow_start.hh"

namespace ccgym {

namespace {

// indigo and window: sets the window; packets are not paced.
class WindowActuator final : public Actuator {
 public:
  using Actuator::Actuator;
  [[nodiscard]] std::unique_ptr<Actuator> clone() const override {
    return std::make_unique<WindowActuator>(*this);
  }
};

// window_and_rate: sets the window and the pacing rate that are given; no pacing before the first action.
class WindowAndRateActuator final : public Actuator {
 public:
  using Actuator::Actuator;
  [[nodiscard]] std::unique_ptr<Actuator> clone() const override {
    return std::make_unique<WindowAndRateActuator>(*this);
  }

 private:
  static constexpr double kMinMbps = 1e-3;  // a packet in 12 s; below it the flow would stand for minutes

  double applied_window(Time /*now*/, Act act, double requested_packets) override {
    pacing_rate_ = Rate::from_mbps(std::max(static_cast<double>(act.rate_mbps), kMinMbps));
    return requested_packets;
  }
  [[nodiscard]] SendLimits compute_limits() const override {
    return {.cwnd_bytes = bytes_of(cwnd_packets()), .pacing_rate = pacing_rate_};
  }

  std::optional<Rate> pacing_rate_{};
};

// rate: sets the pacing rate, which is kept as the window that it fills on a path without a queue.
class RateActuator final : public Actuator {
 public:
  using Actuator::Actuator;
  [[nodiscard]] std::unique_ptr<Actuator> clone() const override {
    return std::make_unique<RateActuator>(*this);
  }

 private:
  static constexpr double kSilenceWindows = 2;  // round trips without an ACK after which the flow stops

  void take_ack(Time now, const AckEvent& ack) override;
  [[nodiscard]] SendLimits compute_limits() const override;

  RttStats rtt_{};
};

// A new min RTT scales the window, so that the pacing rate stays the same.
void RateActuator::take_ack(Time /*now*/, const AckEvent& ack) {
  const Time previous_min = rtt_.min;
  rtt_ = ack.rtt;
  if (previous_min > Time::zero() && rtt_.min > Time::zero())
    set_cwnd(cwnd_packets() *
             (static_cast<double>(rtt_.min.count()) / static_cast<double>(previous_min.count())));
  else
    update_limits();
}

// The pacing rate limits the flow. The cwnd is larger, and only bounds what is sent over a path that has
// failed.
SendLimits RateActuator::compute_limits() const {
  if (rtt_.min == Time::zero()) return Actuator::compute_limits();
  const double window_bytes = cwnd_packets() * static_cast<double>(packet_bytes());
  const double stretch =
      std::max(1.0, static_cast<double>(rtt_.smoothed.count()) / static_cast<double>(rtt_.min.count()));
  const double guard_bytes = kSilenceWindows * stretch * window_bytes;
  return {.cwnd_bytes = static_cast<int64_t>(guard_bytes) + packet_bytes(),
          .pacing_rate = Rate::of(window_bytes, rtt_.min)};
}

// Windows per min RTT: above 1, so that the flow catches up after its host has stalled or the link's rate has
// risen; low enough that a window does not leave in one burst, which would overflow a short queue.
constexpr double kPacingGain = 1.5;

std::optional<Rate> window_pacing_rate(int64_t window_bytes, Time min_rtt) {
  if (min_rtt == Time::zero()) return std::nullopt;
  return Rate::of(kPacingGain * static_cast<double>(window_bytes), min_rtt);
}

// log_window: sets the window, and paces it over the min RTT.
class PacedWindowActuator final : public Actuator {
 public:
  using Actuator::Actuator;
  [[nodiscard]] std::unique_ptr<Actuator> clone() const override {
    return std::make_unique<PacedWindowActuator>(*this);
  }

 private:
  void take_ack(Time /*now*/, const AckEvent& ack) override {
    if (ack.rtt.min == min_rtt_) return;
    min_rtt_ = ack.rtt.min;
    update_limits();
  }
  [[nodiscard]] SendLimits compute_limits() const override {
    const int64_t window_bytes = bytes_of(cwnd_packets());
    return {.cwnd_bytes = window_bytes, .pacing_rate = window_pacing_rate(window_bytes, min_rtt_)};
  }

  Time min_rtt_{};
};

// log_window with a companion, which changes window and pacing rate for the sake of competing flows.
class CompanionActuator final : public Actuator {
 public:
  CompanionActuator(const PolicySpec& spec, const ControllerConfig& config)
      : Actuator(spec, config.packet_bytes), companion_(config, spec.preference) {}
  [[nodiscard]] std::unique_ptr<Actuator> clone() const override {
    return std::make_unique<CompanionActuator>(*this);
  }
  void on_loss(Time now, std::span<const LostPacket> lost, int64_t inflight_bytes) override;
  [[nodiscard]] std::vector<Metric> metrics() const override { return companion_.metrics(); }
  [[nodiscard]] OwnState own_state() const override {
    return {cwnd_packets(), companion_.probes(), companion_.sees_others()};
  }

 private:
  void take_ack(Time now, const AckEvent& ack) override;
  double applied_window(Time now, Act /*act*/, double requested_packets) override {
    slow_start_.on_decision(rtt_, cwnd_packets(), requested_packets);
    return companion_.window(now, rtt_, cwnd_packets(), requested_packets);
  }
  [[nodiscard]] SendLimits compute_limits() const override;

  RttStats rtt_{};
  Companion companion_;
  ShallowQueue shallow_queue_{};
  SlowStart slow_start_{};
};

void CompanionActuator::take_ack(Time now, const AckEvent& ack) {
  const bool min_rtt_changes = ack.rtt.min != rtt_.min;
  rtt_ = ack.rtt;
  if (slow_start_.on()) set_cwnd(slow_start_.grown(ack, cwnd_packets()));
  const bool window_changes = companion_.on_ack(now, ack, cwnd_packets());
  const bool rate_changes = shallow_queue_.on_ack(now, ack);
  if (min_rtt_changes || window_changes || rate_changes) update_limits();
}

void CompanionActuator::on_loss(Time now, std::span<const LostPacket> lost, int64_t inflight_bytes) {
  slow_start_.on_loss();
  set_cwnd(companion_.on_loss(now, lost, cwnd_packets()));
  if (shallow_queue_.on_loss(lost, inflight_bytes, rtt_)) update_limits();
}

SendLimits CompanionActuator::compute_limits() const {
  const int64_t window_bytes = shallow_queue_.window_bytes(bytes_of(companion_.limit(cwnd_packets())));
  SendLimits limits{.cwnd_bytes = window_bytes};
  if (companion_.in_train()) return limits;
  limits.pacing_rate = window_pacing_rate(window_bytes, rtt_.min);
  limits.ack_clocked = companion_.ack_clocked();
  // The pacing rate for a shallow queue does not apply while flows compete, because they would share the link
  // less fairly: with 2 to 16 flows and room for less than 12 packets of each, Jain's index is 0.94 with it
  // and 0.96 without, in the mean of 300 links.
  if (limits.ack_clocked) return limits;
  const std::optional<Rate> most = shallow_queue_.pacing();
  if (limits.pacing_rate && most) limits.pacing_rate = std::min(*limits.pacing_rate, *most);
  return limits;
}

}  // namespace

Actuator::Actuator(const PolicySpec& spec, int64_t packet_bytes)
    : actions_(spec.actions),
      packet_bytes_(packet_bytes),
      min_cwnd_packets_(spec.min_cwnd_packets),
      max_cwnd_packets_(spec.max_cwnd_packets),
      cwnd_packets_(spec.initial_cwnd_packets),
      limits_{.cwnd_bytes = bytes_of(spec.initial_cwnd_packets)} {}

void Actuator::on_ack(Time now, const AckEvent& ack) {
  application_limited_ = ack.limited_by == Limit::application;
  take_ack(now, ack);
}

// A window that the application does not use must not grow (RFC 9002, section 7.8), unless the actions set
// the window itself.
float Actuator::act(Time now, Act act) {
  const double before_packets = cwnd_packets_;
  const double applied_packets = applied_window(now, act, requested_window(actions_, act, cwnd_packets_));
  const bool may_grow = !application_limited_ || is_absolute(actions_);
  set_cwnd(may_grow ? applied_packets : std::min(applied_packets, before_packets));
  return executed_act(actions_, act, cwnd_packets_ / before_packets);
}

void Actuator::set_cwnd(double cwnd_packets) {
  cwnd_packets_ = std::clamp(cwnd_packets, min_cwnd_packets_, max_cwnd_packets_);
  update_limits();
}

std::unique_ptr<Actuator> make_actuator(const PolicySpec& spec, const ControllerConfig& config) {
  switch (spec.actions) {
    case ActionSet::indigo:
    case ActionSet::window:
      return std::make_unique<WindowActuator>(spec, config.packet_bytes);
    case ActionSet::log_window:
      if (spec.companion) return std::make_unique<CompanionActuator>(spec, config);
      return std::make_unique<PacedWindowActuator>(spec, config.packet_bytes);
    case ActionSet::rate:
      return std::make_unique<RateActuator>(spec, config.packet_bytes);
    case ActionSet::window_and_rate:
      return std::make_unique<WindowAndRateActuator>(spec, config.packet_bytes);
  }
  throw std::logic_error("an action set without an actuator");
}

}  // namespace ccgym
