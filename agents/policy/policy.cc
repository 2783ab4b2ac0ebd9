#include "agents/policy/policy.hh"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace ccgym {

namespace {

// Windows per least round trip. Fast enough to catch up after the host was away or when the rate has risen,
// slow enough that a window does not leave in one burst and overflow a queue of a few packets.
constexpr double kPacingGain = 1.5;

constexpr double kRateStep = 0.025;    // Aurora's alpha
constexpr double kLeastMbps = 1e-3;    // a rate that is given
constexpr double kSilenceWindows = 2;  // a pacing policy stops after so many round trips without an ACK

double apply_indigo(std::size_t action, double cwnd) {
  const std::array<double, 5> windows{cwnd / 2, cwnd - 10, cwnd, cwnd + 10, cwnd * 2};
  return windows.at(action);
}

double apply_rate(double action, double cwnd) {
  return action < 0 ? cwnd / (1 - kRateStep * action) : cwnd * (1 + kRateStep * action);
}

// Whatever comes from outside: a class that is there, or a number.
void check_action(ActionSet actions, Act action) {
  const auto refuse = [action](const char* right) {
    throw std::invalid_argument("action " + std::to_string(action.value) + ": " + right + " would be right");
  };
  if (std::isnan(action.value) || std::isnan(action.rate_mbps)) refuse("a number");
  if (actions != ActionSet::indigo) return;
  const auto classes = static_cast<float>(output_count(actions));
  if (!(action.value >= 0 && action.value < classes && action.value == std::floor(action.value)))
    refuse("a class from 0 to 4");
}

bool sets_window(ActionSet actions) {
  return actions == ActionSet::window || actions == ActionSet::window_and_rate;
}

double apply(ActionSet actions, float action, double cwnd) {
  if (sets_window(actions)) return static_cast<double>(action);
  if (actions == ActionSet::indigo) return apply_indigo(static_cast<std::size_t>(action), cwnd);
  const double number = std::clamp(static_cast<double>(action), -1.0, 1.0);
  return actions == ActionSet::rate ? apply_rate(number, cwnd) : cwnd * std::exp(number);
}

}  // namespace

ActionSet action_set_by_name(std::string_view name) {
  std::string known;
  for (const ActionSet actions : kActionSets) {
    if (action_set_name(actions) == name) return actions;
    known += (known.empty() ? "" : ", ") + std::string{action_set_name(actions)};
  }
  throw std::invalid_argument("unknown action set '" + std::string{name} + "': known are " + known);
}

std::string_view action_set_name(ActionSet actions) {
  switch (actions) {
    case ActionSet::indigo:
      return "indigo";
    case ActionSet::log_window:
      return "log_window";
    case ActionSet::rate:
      return "rate";
    case ActionSet::window:
      return "window";
    case ActionSet::window_and_rate:
      return "window_and_rate";
  }
  throw std::logic_error("an action set without a name");
}

std::size_t output_count(ActionSet actions) {
  return actions == ActionSet::indigo ? 5 : action_size(actions);
}

std::size_t action_size(ActionSet actions) { return actions == ActionSet::window_and_rate ? 2 : 1; }

Act choose_act(ActionSet actions, std::span<const float> outputs) {
  if (actions == ActionSet::window_and_rate) return {outputs[0], outputs[1]};
  if (actions != ActionSet::indigo) return outputs[0];
  return static_cast<float>(std::distance(outputs.begin(), std::ranges::max_element(outputs)));
}

PolicySpec checked_policy(const PolicySpec& spec) {
  if (spec.companion && spec.actions != ActionSet::log_window) {
    throw std::invalid_argument("companion goes with actions log_window, not with " +
                                std::string{action_set_name(spec.actions)});
  }
  return spec;
}

PolicyController::PolicyController(const PolicySpec& spec, int64_t packet_bytes,
                                   std::unique_ptr<PolicyNetwork> network)
    : spec_(spec),
      packet_bytes_(packet_bytes),
      network_(std::move(network)),
      features_(spec.feature_set, packet_bytes, spec.preference),
      companion_(spec.companion ? std::optional<Companion>{Companion{}} : std::nullopt),
      observation_(feature_divisors(spec.feature_set).size()),
      cwnd_packets_(spec.initial_cwnd_packets),
      limits_(decide_limits()) {}

void PolicyController::on_timer(Time now) {
  features_.observe(now, cwnd_packets_, observation_);
  step_start_ = now;
  acked_in_step_ = false;
  closed_step_rtts_ = std::exchange(step_rtts_, {});
  awaiting_action_ = true;
  if (network_) act(choose_act(spec_.actions, network_->step(observation_)));
}

StepRtt PolicyController::step_rtt() const {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  if (closed_step_rtts_.acks == 0) return {};
  const double total_ms = Milliseconds{closed_step_rtts_.total}.count();
  return {total_ms / static_cast<double>(closed_step_rtts_.acks),
          Milliseconds{closed_step_rtts_.max}.count()};
}

void PolicyController::act(Act action) {
  check_action(spec_.actions, action);
  features_.on_action(action.value);
  rate_mbps_ = std::max(static_cast<double>(action.rate_mbps), kLeastMbps);
  const double wanted = apply(spec_.actions, action.value, cwnd_packets_);
  set_cwnd(companion_ ? companion_->window(step_start_.value_or(Time{}), rtt_, cwnd_packets_, wanted)
                      : wanted);
  awaiting_action_ = false;
}

void PolicyController::set_cwnd(double cwnd_packets) {
  cwnd_packets_ = std::clamp(cwnd_packets, spec_.min_cwnd_packets, spec_.max_cwnd_packets);
  limits_ = decide_limits();
}

void PolicyController::note_losses(Time now, std::span<const LostPacket> lost, int64_t inflight_bytes) {
  features_.on_loss(lost);
  if (!companion_) return;
  companion_->on_loss(now, lost);
  if (shallow_queue_.on_loss(lost, inflight_bytes, rtt_)) limits_ = decide_limits();
}

void PolicyController::pace(Time now, const AckEvent& ack) {
  const RttStats& rtt = ack.rtt;
  if (spec_.actions == ActionSet::rate) keep_rate(rtt);
  const bool least_changes = rtt.min != rtt_.min;
  rtt_ = rtt;
  const bool window_changes = companion_ && companion_->on_ack(now, ack, cwnd_packets_);
  const bool pace_changes = companion_ && shallow_queue_.on_ack(now, ack);
  if (least_changes || window_changes || pace_changes) limits_ = decide_limits();
}

// A rate is held as the window that it fills: it stays when the round trip turns out to be shorter.
void PolicyController::keep_rate(const RttStats& rtt) {
  if (rtt_.min > Time::zero() && rtt.min > Time::zero())
    set_cwnd(cwnd_packets_ * (static_cast<double>(rtt.min.count()) / static_cast<double>(rtt_.min.count())));
}

SendLimits PolicyController::decide_limits() const {
  if (spec_.actions == ActionSet::rate && rtt_.min > Time::zero()) return paced_limits();
  if (sets_window(spec_.actions)) return given_limits();
  const double window = companion_ ? companion_->limit(cwnd_packets_) : cwnd_packets_;
  // A fraction of a packet in the window admits a whole one, as in Indigo's window test.
  SendLimits limits{.cwnd_bytes = static_cast<int64_t>(std::ceil(window)) * packet_bytes_};
  const bool in_train = companion_ && companion_->in_train();
  if (spec_.actions == ActionSet::log_window && !in_train && rtt_.min > Time::zero())
    limits.pacing_rate = window_pacing(limits.cwnd_bytes);
  return limits;
}

// What the action said, from the first one on.
SendLimits PolicyController::given_limits() const {
  SendLimits limits{.cwnd_bytes = static_cast<int64_t>(std::ceil(cwnd_packets_)) * packet_bytes_};
  if (spec_.actions == ActionSet::window_and_rate && rate_mbps_ > 0)
    limits.pacing_rate = Rate::from_mbps(rate_mbps_);
  return limits;
}

Rate PolicyController::window_pacing(int64_t window_bytes) const {
  const Rate pace = Rate::of(kPacingGain * static_cast<double>(window_bytes), rtt_.min);
  return std::min(pace, shallow_queue_.pacing().value_or(pace));
}

// The rate decides; the window is a guard, so that a path gone dead is not flooded.
SendLimits PolicyController::paced_limits() const {
  const auto min_rtt_ns = static_cast<double>(rtt_.min.count());
  const double window_bytes = cwnd_packets_ * static_cast<double>(packet_bytes_);
  const double stretch = std::max(1.0, static_cast<double>(rtt_.smoothed.count()) / min_rtt_ns);
  const double guard_bytes = kSilenceWindows * stretch * window_bytes;
  return {.cwnd_bytes = static_cast<int64_t>(guard_bytes) + packet_bytes_,
          .pacing_rate = Rate::of(window_bytes, rtt_.min)};
}

}  // namespace ccgym
