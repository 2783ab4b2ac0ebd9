// Aurora's observation: latency gradient, latency ratio and send ratio of the last ten steps.
// Jay et al., "A Deep Reinforcement Learning Perspective on Internet Congestion Control", ICML 2019, 3.1.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "agents/policy/own_state.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class AuroraFeatures {
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

  void on_ack(Time /*now*/, const AckEvent& ack) {
    ++acks_;
    rtt_sum_ += ack.rtt.latest;
    latest_ = {ack.rtt.latest, ack.rtt.min, ack.rate.ack_interval, ack.rate.delivered_bytes,
               ack.bytes_sent_since()};
  }
  void on_loss(std::span<const LostPacket> /*lost*/) {}
  void on_action(float /*action*/) {}
  void observe(Time now, const OwnState& own, std::span<float> observation);

 private:
  using Entry = std::array<double, kPerStep>;  // latency gradient, latency ratio, send ratio

  struct Ack {
    Time rtt{};
    Time min_rtt{};
    Time ack_interval{};
    int64_t delivered_bytes{};
    int64_t bytes_sent_since{};
  };

  Entry close_step(Time now);
  [[nodiscard]] double send_ratio() const;  // sending rate / delivery rate, over the last round trip

  std::array<Entry, kHistory> history_{};  // the oldest first
  int64_t acks_{0};
  Time rtt_sum_{};
  Ack latest_{};
  double last_rtt_ns_{0};
  Time last_step_end_{};
};

}  // namespace ccgym
