#include "agents/controllers/policy/policy.hh"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace ccgym {

namespace {

constexpr Time kMaxSilence =
    std::chrono::seconds{1};  // a step without ACKs ends here (Indigo's poll time-out)

double apply_indigo(std::size_t action, double cwnd) {
  const std::array<double, 5> windows{cwnd / 2, cwnd - 10, cwnd, cwnd + 10, cwnd * 2};
  return windows.at(action);
}

double apply(ActionSet actions, float action, double cwnd) {
  if (actions == ActionSet::indigo) return apply_indigo(static_cast<std::size_t>(action), cwnd);
  return cwnd * std::exp(std::clamp(static_cast<double>(action), -1.0, 1.0));
}

}  // namespace

ActionSet action_set_by_name(std::string_view name) {
  if (name == "indigo") return ActionSet::indigo;
  if (name == "log_window") return ActionSet::log_window;
  throw std::invalid_argument("unknown action set '" + std::string{name} + "': known are indigo, log_window");
}

std::size_t action_count(ActionSet actions) { return actions == ActionSet::indigo ? 5 : 1; }

float choose_act(ActionSet actions, std::span<const float> outputs) {
  if (actions == ActionSet::log_window) return outputs[0];
  return static_cast<float>(std::distance(outputs.begin(), std::ranges::max_element(outputs)));
}

PolicyController::PolicyController(const PolicySpec& spec, int64_t packet_bytes,
                                   std::unique_ptr<PolicyNetwork> network)
    : spec_(spec),
      packet_bytes_(packet_bytes),
      network_(std::move(network)),
      features_(make_features(spec.feature_set, packet_bytes, spec.preference)),
      observation_(feature_divisors(spec.feature_set).size()),
      cwnd_packets_(spec.initial_cwnd_packets) {}

void PolicyController::on_sent(Time now, const SentPacket& /*packet*/) {
  if (!step_start_) step_start_ = now;
}

void PolicyController::on_ack(Time now, const AckedPacket& packet) {
  if (!heard_receiver_) step_start_ = now;
  heard_receiver_ = true;
  acked_in_step_ = true;
  ++step_rtts_.acks;
  step_rtts_.total += packet.rtt.latest;
  step_rtts_.max = std::max(step_rtts_.max, packet.rtt.latest);
  features_->on_ack(now, packet);
}

void PolicyController::on_loss(Time /*now*/, const Loss& loss) { features_->on_loss(loss); }

std::optional<Time> PolicyController::next_timer() const {
  if (!step_start_ || awaiting_action_) return std::nullopt;
  return *step_start_ + (acked_in_step_ ? spec_.step : kMaxSilence);
}

void PolicyController::on_timer(Time now) {
  features_->observe(now, cwnd_packets_, observation_);
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

void PolicyController::act(float action) {
  features_->on_action(action);
  set_cwnd(apply(spec_.actions, action, cwnd_packets_));
  awaiting_action_ = false;
}

void PolicyController::set_cwnd(double cwnd_packets) {
  cwnd_packets_ = std::clamp(cwnd_packets, spec_.min_cwnd_packets, spec_.max_cwnd_packets);
}

// A fraction of a packet in the window admits a whole one, as in Indigo's window test.
SendLimits PolicyController::limits() const {
  return {.cwnd_bytes = static_cast<int64_t>(std::ceil(cwnd_packets_)) * packet_bytes_,
          .pacing_mbps = std::nullopt};
}

}  // namespace ccgym
