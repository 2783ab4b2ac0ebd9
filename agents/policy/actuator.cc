#include "agents/policy/actuator.hh"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "agents/companion/companion.hh"
#include "agents/companion/shallow_queue.hh"
#include "agents/companion/slow_start.hh"

namespace ccgym {

namespace {

// indigo, window: the window, and nothing else.
class WindowActuator final : public Actuator {
 public:
  using Actuator::Actuator;
  [[nodiscard]] std::unique_ptr<Actuator> clone() const override {
    return std::make_unique<WindowActuator>(*this);
  }
};

// window_and_rate: both as they were given, from the first action on.
class GivenPaceActuator final : public Actuator {
 public:
  using Actuator::Actuator;
  [[nodiscard]] std::unique_ptr<Actuator> clone() const override {
    return std::make_unique<GivenPaceActuator>(*this);
  }

 private:
  static constexpr double kMinMbps = 1e-3;  // or the flow would stand for minutes

  double taken_window(Time /*now*/, Act act, double asked_packets) override {
    pace_ = Rate::from_mbps(std::max(static_cast<double>(act.rate_mbps), kMinMbps));
    return asked_packets;
  }
  [[nodiscard]] SendLimits decide_limits() const override {
    return {.cwnd_bytes = bytes_of(cwnd_packets()), .pacing_rate = pace_};
  }

  std::optional<Rate> pace_{};
};

// rate: the pace decides. It is held as the window that it fills on a path without a queue.
class PaceActuator final : public Actuator {
 public:
  using Actuator::Actuator;
  [[nodiscard]] std::unique_ptr<Actuator> clone() const override {
    return std::make_unique<PaceActuator>(*this);
  }

 private:
  static constexpr double kSilenceWindows = 2;  // it stops after so many round trips without an ACK

  void take_ack(Time now, const AckEvent& ack) override;
  [[nodiscard]] SendLimits decide_limits() const override;

  RttStats rtt_{};
};

// The pace stays when the round trip turns out to be shorter.
void PaceActuator::take_ack(Time /*now*/, const AckEvent& ack) {
  const Time least_before = rtt_.min;
  rtt_ = ack.rtt;
  if (least_before > Time::zero() && rtt_.min > Time::zero())
    set_cwnd(cwnd_packets() *
             (static_cast<double>(rtt_.min.count()) / static_cast<double>(least_before.count())));
  else
    renew_limits();
}

// The window is a guard, so that a path gone dead is not flooded.
SendLimits PaceActuator::decide_limits() const {
  if (rtt_.min == Time::zero()) return Actuator::decide_limits();
  const double window_bytes = cwnd_packets() * static_cast<double>(packet_bytes());
  const double stretch =
      std::max(1.0, static_cast<double>(rtt_.smoothed.count()) / static_cast<double>(rtt_.min.count()));
  const double guard_bytes = kSilenceWindows * stretch * window_bytes;
  return {.cwnd_bytes = static_cast<int64_t>(guard_bytes) + packet_bytes(),
          .pacing_rate = Rate::of(window_bytes, rtt_.min)};
}

// Windows per least round trip. Fast enough to catch up after the host was away or when the rate has risen,
// slow enough that a window does not leave in one burst and overflow a queue of a few packets.
constexpr double kPacingGain = 1.5;

std::optional<Rate> window_pace(int64_t window_bytes, Time min_rtt) {
  if (min_rtt == Time::zero()) return std::nullopt;
  return Rate::of(kPacingGain * static_cast<double>(window_bytes), min_rtt);
}

// log_window: the window, paced.
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
    renew_limits();
  }
  [[nodiscard]] SendLimits decide_limits() const override {
    const int64_t window_bytes = bytes_of(cwnd_packets());
    return {.cwnd_bytes = window_bytes, .pacing_rate = window_pace(window_bytes, min_rtt_)};
  }

  Time min_rtt_{};
};

// log_window with a companion: the window and the pace, changed for others on the bottleneck.
class SharingActuator final : public Actuator {
 public:
  SharingActuator(const PolicySpec& spec, const ControllerConfig& config)
      : Actuator(spec, config.packet_bytes), companion_(config, spec.preference) {}
  [[nodiscard]] std::unique_ptr<Actuator> clone() const override {
    return std::make_unique<SharingActuator>(*this);
  }
  void on_loss(Time now, std::span<const LostPacket> lost, int64_t inflight_bytes) override;
  [[nodiscard]] std::vector<Metric> metrics() const override { return companion_.metrics(); }
  [[nodiscard]] OwnState own_state() const override {
    return {cwnd_packets(), companion_.probes(), companion_.sees_others()};
  }

 private:
  void take_ack(Time now, const AckEvent& ack) override;
  double taken_window(Time now, Act /*act*/, double asked_packets) override {
    slow_start_.on_decision(rtt_, cwnd_packets(), asked_packets);
    return companion_.window(now, rtt_, cwnd_packets(), asked_packets);
  }
  [[nodiscard]] SendLimits decide_limits() const override;

  RttStats rtt_{};
  Companion companion_;
  ShallowQueue shallow_queue_{};
  SlowStart slow_start_{};
};

void SharingActuator::take_ack(Time now, const AckEvent& ack) {
  const bool least_changes = ack.rtt.min != rtt_.min;
  rtt_ = ack.rtt;
  if (slow_start_.on()) set_cwnd(slow_start_.grown(ack, cwnd_packets()));
  const bool window_changes = companion_.on_ack(now, ack, cwnd_packets());
  const bool pace_changes = shallow_queue_.on_ack(now, ack);
  if (least_changes || window_changes || pace_changes) renew_limits();
}

void SharingActuator::on_loss(Time now, std::span<const LostPacket> lost, int64_t inflight_bytes) {
  slow_start_.on_loss();
  set_cwnd(companion_.on_loss(now, lost, cwnd_packets()));
  if (shallow_queue_.on_loss(lost, inflight_bytes, rtt_)) renew_limits();
}

SendLimits SharingActuator::decide_limits() const {
  const int64_t window_bytes = shallow_queue_.window_bytes(bytes_of(companion_.limit(cwnd_packets())));
  SendLimits limits{.cwnd_bytes = window_bytes};
  if (companion_.in_train()) return limits;
  limits.pacing_rate = window_pace(window_bytes, rtt_.min);
  limits.ack_clocked = companion_.ack_clocked();
  // Contesting flows that were held to a shallow queue's pace as well shared it worse: where 2 to 16 have
  // room for less than 12 packets of each, Jain's index is 0.94 in the mean of 300 links in place of 0.96.
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

// A window that the application does not use has shown nothing of the path, and does not grow (RFC 9002,
// section 7.8). One that is given in packets, not by the present one, is taken as it is.
float Actuator::act(Time now, Act act) {
  const double before_packets = cwnd_packets_;
  const double taken_packets = taken_window(now, act, asked_window(actions_, act, cwnd_packets_));
  const bool may_grow = !application_limited_ || is_absolute(actions_);
  set_cwnd(may_grow ? taken_packets : std::min(taken_packets, before_packets));
  return executed_act(actions_, act, cwnd_packets_ / before_packets);
}

void Actuator::set_cwnd(double cwnd_packets) {
  cwnd_packets_ = std::clamp(cwnd_packets, min_cwnd_packets_, max_cwnd_packets_);
  renew_limits();
}

std::unique_ptr<Actuator> make_actuator(const PolicySpec& spec, const ControllerConfig& config) {
  switch (spec.actions) {
    case ActionSet::indigo:
    case ActionSet::window:
      return std::make_unique<WindowActuator>(spec, config.packet_bytes);
    case ActionSet::log_window:
      if (spec.companion) return std::make_unique<SharingActuator>(spec, config);
      return std::make_unique<PacedWindowActuator>(spec, config.packet_bytes);
    case ActionSet::rate:
      return std::make_unique<PaceActuator>(spec, config.packet_bytes);
    case ActionSet::window_and_rate:
      return std::make_unique<GivenPaceActuator>(spec, config.packet_bytes);
  }
  throw std::logic_error("an action set without an actuator");
}

}  // namespace ccgym
