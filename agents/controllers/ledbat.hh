// LEDBAT, Low Extra Delay Background Transport (RFC 6817, whose section numbers and names are used): the
// window keeps the one-way queueing delay at a target, and so yields to flows that cause more of it.
#pragma once

#include <array>

#include "agents/controllers/fast_recovery.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class Ledbat final : public CongestionController {
 public:
  explicit Ledbat(int64_t packet_bytes);

  [[nodiscard]] std::string_view name() const override { return "ledbat"; }
  void on_sent(Time now, const SentPacket& packet) override;
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  [[nodiscard]] SendLimits limits() const override;
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Ledbat>(*this);
  }

 private:
  static constexpr std::size_t kBaseHistory = 10;   // minutes; section 2.4.2: BASE_HISTORY
  static constexpr std::size_t kCurrentFilter = 4;  // samples; CURRENT_FILTER

  void respond_to_losses(const AckEvent& ack);
  void on_packet_acked(Time now, const AckedPacket& packet);
  void update_base_delay(Time now, Time delay);
  void update_current_delay(Time delay);
  [[nodiscard]] Time queueing_delay() const;
  void grow();

  int64_t packet_bytes_;
  double cwnd_packets_;
  // RFC 6817's flightsize, as of the last departure, because a burst of ACKs would reduce it before the
  // packets that it permits have left.
  int64_t sent_inflight_bytes_{0};
  bool slow_start_{true};
  std::array<Time, kBaseHistory> base_delays_{};       // the smallest one-way delay of each minute
  std::array<Time, kCurrentFilter> current_delays_{};  // the newest one-way delays
  Time base_delay_{Time::max()};                       // the smallest of base_delays_
  std::size_t minute_{0};                              // of the newest sample, since the flow began
  std::size_t samples_{0};
  FastRecovery recovery_;
};

}  // namespace ccgym
