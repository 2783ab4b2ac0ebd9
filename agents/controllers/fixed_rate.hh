// A rate that never changes, whatever is lost: what a path does to a constant stream.
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class FixedRate final : public CongestionController {
 public:
  FixedRate(int64_t packet_bytes, double rate_mbps);  // of UDP payload

  [[nodiscard]] std::string_view name() const override { return "rate"; }
  void on_ack(Time /*now*/, const AckedPacket& /*packet*/) override {}
  void on_loss(Time /*now*/, const Loss& /*loss*/) override {}
  [[nodiscard]] SendLimits limits() const override { return limits_; }

 private:
  SendLimits limits_;
};

}  // namespace ccgym
