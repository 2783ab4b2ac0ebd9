// A constant pacing rate without any response to congestion, for measuring a path with a constant stream.
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class FixedRate final : public CongestionController {
 public:
  struct Config {
    double rate_mbps{};  // of UDP payload
  };

  FixedRate(int64_t packet_bytes, const Config& config);

  [[nodiscard]] std::string_view name() const override { return "rate"; }
  void on_ack(Time /*now*/, const AckEvent& /*ack*/) override {}
  void on_timeout(Time /*now*/, const Timeout& /*timeout*/) override {}
  [[nodiscard]] SendLimits limits() const override { return limits_; }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<FixedRate>(*this);
  }

 private:
  SendLimits limits_;
};

}  // namespace ccgym
