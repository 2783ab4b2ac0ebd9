// The first part of a policy: from measurements to the observation, step by step.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agents/policy/features.hh"
#include "agents/policy/policy_spec.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

// Round-trip times of the ACKs of one step; all 0 when there were none.
struct StepRtt {
  double mean_ms{0};
  double max_ms{0};
};

class Observer {
 public:
  Observer(const PolicySpec& spec, int64_t packet_bytes);

  void on_sent(Time now) {
    if (!step_began_) step_began_ = now;
  }
  void on_ack(Time now, const AckEvent& ack) {
    if (!got_ack_) step_began_ = now;
    got_ack_ = acked_in_step_ = true;
    ++rtts_.acks;
    rtts_.total += ack.rtt.latest;
    rtts_.max = std::max(rtts_.max, ack.rtt.latest);
    features_.on_ack(now, ack);
  }
  void on_loss(std::span<const LostPacket> lost) { features_.on_loss(lost); }
  void on_action(float action) { features_.on_action(action); }

  // Absent before the first packet. A step begins anew with the first ACK; one without ACKs lasts longer.
  [[nodiscard]] std::optional<Time> step_ends_at() const {
    if (!step_began_) return std::nullopt;
    return *step_began_ + (acked_in_step_ ? step_ : kMaxSilence);
  }
  [[nodiscard]] Time step_began() const { return step_began_.value_or(Time{}); }
  // Ends the step, and begins the next one.
  void close_step(Time now, const OwnState& own);

  [[nodiscard]] std::span<const float> observation() const { return observation_; }  // of the closed step
  [[nodiscard]] StepRtt step_rtt() const {                                           // of the closed step
    if (closed_rtts_.acks == 0) return {};
    const double total_ms = in_ms(closed_rtts_.total);
    return {total_ms / static_cast<double>(closed_rtts_.acks), in_ms(closed_rtts_.max)};
  }

 private:
  static constexpr Time kMaxSilence = std::chrono::seconds{1};  // Indigo's poll time-out

  struct RttSum {
    int64_t acks{0};
    Time total{};
    Time max{};
  };

  Time step_;
  Features features_;
  std::vector<float> observation_;
  std::optional<Time> step_began_{};
  RttSum rtts_{};
  RttSum closed_rtts_{};
  bool got_ack_{false};
  bool acked_in_step_{false};
};

}  // namespace ccgym
