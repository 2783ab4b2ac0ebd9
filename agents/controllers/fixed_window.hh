// A window that never changes: the oracle's candidate and the test double of every driver.
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class FixedWindow final : public CongestionController {
 public:
  FixedWindow(int64_t packet_bytes, double cwnd_packets);

  [[nodiscard]] std::string_view name() const override { return "fixed"; }
  void on_ack(Time /*now*/, const AckedPacket& /*packet*/) override {}
  void on_loss(Time /*now*/, const Loss& /*loss*/) override {}
  [[nodiscard]] SendLimits limits() const override { return {.cwnd_bytes = cwnd_bytes_, .pacing_mbps = {}}; }

 private:
  int64_t cwnd_bytes_;
};

}  // namespace ccgym
