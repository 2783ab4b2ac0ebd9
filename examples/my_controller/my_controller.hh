// A controller with additive increase and multiplicative decrease that responds to marks as to losses.
#pragma once

#include "transport/congestion_controller.hh"

class MyController final : public ccgym::CongestionController {
 public:
  explicit MyController(int64_t packet_bytes) : packet_bytes_{packet_bytes} {}

  [[nodiscard]] std::string_view name() const override { return "mine"; }
  [[nodiscard]] bool wants_ecn() const override { return true; }
  void on_ack(ccgym::Time now, const ccgym::AckEvent& ack) override;
  void on_timeout(ccgym::Time now, const ccgym::Timeout& timeout) override;
  [[nodiscard]] ccgym::SendLimits limits() const override {
    return {.cwnd_bytes = static_cast<int64_t>(cwnd_packets_ * static_cast<double>(packet_bytes_))};
  }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<MyController>(*this);
  }

 private:
  int64_t packet_bytes_;
  double cwnd_packets_{ccgym::kInitialWindowPackets};
  ccgym::Time reduced_at_{};
};
