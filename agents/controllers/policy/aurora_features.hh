// Aurora's observation: latency gradient, latency ratio and send ratio of the last ten steps.
// Jay et al., "A Deep Reinforcement Learning Perspective on Internet Congestion Control", ICML 2019, 3.1.
#pragma once

#include <array>
#include <cstdint>

#include "agents/controllers/policy/features.hh"

namespace ccgym {

class AuroraFeatures final : public Features {
 public:
  static constexpr std::size_t kHistory = 10;
  static constexpr std::size_t kPerStep = 3;
  static constexpr std::array<float, kHistory * kPerStep> kDivisors = [] {
    std::array<float, kHistory * kPerStep> divisors{};
    for (std::size_t i = 0; i < divisors.size(); i += kPerStep) {
      divisors[i] = 1;      // ms per ms
      divisors[i + 1] = 2;  // both ratios are seen up to 8
      divisors[i + 2] = 2;
    }
    return divisors;
  }();

  AuroraFeatures();

  void on_ack(Time now, const AckedPacket& packet) override;
  void on_loss(const Loss& /*loss*/) override {}
  void on_action(float /*action*/) override {}
  void observe(Time now, double cwnd_packets, std::span<float> observation) override;

 private:
  using Entry = std::array<double, kPerStep>;  // latency gradient, latency ratio, send ratio

  Entry close_step(Time now);

  std::array<Entry, kHistory> history_{};  // the oldest first
  int64_t acks_{0};
  Time rtt_sum_{};
  Time min_rtt_{};
  double send_ratio_{1};  // sending rate / delivery rate, over the last round trip
  double last_rtt_ns_{0};
  Time last_step_end_{};
};

}  // namespace ccgym
