// A learned policy as a congestion controller: every step it observes, asks, and sets its window.
//
// In the gym the answer comes from outside for a whole batch (`awaiting_action`, `act`); in deployment
// the exported network gives it at once. Same features, same actions, same bits.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "agents/policy/companion.hh"
#include "agents/policy/features.hh"
#include "agents/policy/policy_network.hh"
#include "agents/policy/shallow_queue.hh"
#include "transport/cloned.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

enum class ActionSet {
  indigo,      // 5 classes: cwnd /2, -10, +0, +10, *2 packets (facts of Indigo, paper section 4.1)
  log_window,  // one real number y: cwnd *= exp(clip(y, -1, 1)), paced at 1.5 windows per least round trip
  rate,        // one real number a, cut to [-1, 1]: the pacing rate *= 1 + 0.025 a, or /= 1 - 0.025 a for
               // a < 0 (Aurora: Jay et al., ICML 2019, section 3.1)
  window,      // the window in packets
  window_and_rate,  // the window in packets and the pacing rate in Mbit/s
};

inline constexpr std::array kActionSets{ActionSet::indigo, ActionSet::log_window, ActionSet::rate,
                                        ActionSet::window, ActionSet::window_and_rate};

// A class index or a number, see ActionSet; the second one of a set of two.
struct Act {
  Act(float first, float second = 0) : value{first}, rate_mbps{second} {}

  float value;
  float rate_mbps;
};

ActionSet action_set_by_name(std::string_view name);  // throws std::invalid_argument naming the known ones
std::string_view action_set_name(ActionSet actions);
std::size_t output_count(ActionSet actions);                        // width of the network's output
std::size_t action_size(ActionSet actions);                         // numbers in an action
Act choose_act(ActionSet actions, std::span<const float> outputs);  // what a network's outputs mean

struct PolicySpec {
  FeatureSet feature_set{FeatureSet::indigo};
  ActionSet actions{ActionSet::indigo};
  Time step{std::chrono::milliseconds{10}};
  double initial_cwnd_packets{static_cast<double>(kInitialWindowPackets)};
  double min_cwnd_packets{2};
  double max_cwnd_packets{100000};
  double preference{0.5};  // from low delay (0) to full throughput (1), where the features hold it
  bool companion{false};   // of log_window alone: changes the window for others on the bottleneck, see
                           // companion.hh, shallow_queue.hh
};

PolicySpec checked_policy(
    const PolicySpec& spec);  // throws std::invalid_argument for what does not go together

// Round-trip times of the ACKs of one step; all 0 when there were none.
struct StepRtt {
  double mean_ms{0};
  double max_ms{0};
};

class PolicyController final : public CongestionController {
 public:
  // Without a network the controller waits for `act` after each observation.
  PolicyController(const PolicySpec& spec, int64_t packet_bytes,
                   std::unique_ptr<PolicyNetwork> network = nullptr);

  [[nodiscard]] std::string_view name() const override { return "policy"; }
  void on_sent(Time now, const SentPacket& /*packet*/) override {
    if (!step_start_) step_start_ = now;
  }
  void on_ack(Time now, const AckEvent& ack) override {
    if (!ack.lost.empty()) note_losses(now, ack.lost, ack.inflight_bytes);
    if (ack.acked.empty()) return;
    if (!heard_receiver_) step_start_ = now;
    heard_receiver_ = true;
    acked_in_step_ = true;
    ++step_rtts_.acks;
    step_rtts_.total += ack.rtt.latest;
    step_rtts_.max = std::max(step_rtts_.max, ack.rtt.latest);
    features_.on_ack(now, ack);
    if (spec_.actions != ActionSet::indigo) pace(now, ack);
  }
  void on_timeout(Time now, const Timeout& timeout) override { note_losses(now, timeout.lost, 0); }
  [[nodiscard]] std::optional<Time> next_timer() const override {
    if (!step_start_ || awaiting_action_) return std::nullopt;
    return *step_start_ + (acked_in_step_ ? spec_.step : kMaxSilence);
  }
  void on_timer(Time now) override;
  [[nodiscard]] SendLimits limits() const override { return limits_; }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<PolicyController>(*this);
  }

  [[nodiscard]] bool awaiting_action() const { return awaiting_action_; }
  [[nodiscard]] std::span<const float> observation() const { return observation_; }
  [[nodiscard]] double cwnd_packets() const { return cwnd_packets_; }
  [[nodiscard]] std::size_t observation_size() const { return observation_.size(); }
  [[nodiscard]] StepRtt step_rtt() const;  // of the step that the observation closes
  void act(Act action);
  void set_cwnd(double cwnd_packets);  // kept within the policy's limits

 private:
  // A step without ACKs ends after this (Indigo's poll time-out).
  static constexpr Time kMaxSilence = std::chrono::seconds{1};

  void note_losses(Time now, std::span<const LostPacket> lost, int64_t inflight_bytes);
  void pace(Time now, const AckEvent& ack);
  void keep_rate(const RttStats& rtt);
  [[nodiscard]] SendLimits decide_limits() const;
  [[nodiscard]] Rate window_pacing(int64_t window_bytes) const;
  [[nodiscard]] SendLimits paced_limits() const;
  [[nodiscard]] SendLimits given_limits() const;

  PolicySpec spec_;
  int64_t packet_bytes_;
  Cloned<PolicyNetwork> network_;
  Features features_;
  std::optional<Companion> companion_;  // of a policy that asks for it
  ShallowQueue shallow_queue_{};        // in front of such a policy, perhaps
  std::vector<float> observation_{};
  double cwnd_packets_;  // of a pacing policy: what its rate puts in flight over a path without a queue
  RttStats rtt_{};       // of a policy that paces
  double rate_mbps_{0};  // of actions that set it
  SendLimits limits_{};
  std::optional<Time> step_start_{};
  struct RttSum {
    int64_t acks{0};
    Time total{};
    Time max{};
  };
  RttSum step_rtts_{};
  RttSum closed_step_rtts_{};
  bool heard_receiver_{false};
  bool acked_in_step_{false};
  bool awaiting_action_{false};
};

}  // namespace ccgym
