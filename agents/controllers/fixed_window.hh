// A constant window: the oracle searches for the best one, and the benchmark of the schemes' processor time
// uses it as the baseline.
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class FixedWindow final : public CongestionController {
 public:
  struct Config {
    double cwnd_packets{};
  };

  FixedWindow(int64_t packet_bytes, const Config& config);

  [[nodiscard]] std::string_view name() const override { return "fixed"; }
  void on_ack(Time /*now*/, const AckEvent& /*ack*/) override {}
  void on_timeout(Time /*now*/, const Timeout& /*timeout*/) override {}
  [[nodiscard]] SendLimits limits() const override { return {.cwnd_bytes = cwnd_bytes_}; }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<FixedWindow>(*this);
  }

 private:
  int64_t cwnd_bytes_;
};

}  // namespace ccgym
