// Indigo's observation: EWMAs of queueing delay, delivery rate and sending rate over one step, the
// window, and the previous action. Its clock is whole milliseconds, as the published weights expect.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "agents/controllers/policy/features.hh"

namespace ccgym {

class IndigoFeatures final : public Features {
 public:
  static constexpr std::array<float, 9> kDivisors{200, 200, 200, 5000, 1, 1, 1, 1, 1};

  void on_ack(Time now, const AckedPacket& packet) override;
  void on_loss(const Loss& /*loss*/) override {}
  void on_action(float action) override { previous_action_ = static_cast<std::size_t>(action); }
  void observe(Time now, double cwnd_packets, std::span<float> observation) override;

 private:
  // Begins anew with every step: the first sample initialises it.
  class StepEwma {
   public:
    void add(double sample) { value_ = value_ ? kKeep * *value_ + (1 - kKeep) * sample : sample; }
    double take() {
      const double value = value_.value_or(0);
      value_.reset();
      return value;
    }

   private:
    static constexpr double kKeep = 0.875;
    std::optional<double> value_{};
  };

  static constexpr std::size_t kActions = 5;
  static constexpr std::size_t kFirstPreviousAction = 4;

  int64_t min_rtt_ms_{std::numeric_limits<int64_t>::max()};
  StepEwma delay_ms_{};
  StepEwma delivery_mbps_{};
  StepEwma sending_mbps_{};
  std::size_t previous_action_{kFirstPreviousAction};
};

}  // namespace ccgym
