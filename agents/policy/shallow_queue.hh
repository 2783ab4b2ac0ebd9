// Keeps a flow from overflowing a queue that has room for a few packets only.
//
// There, packets that leave closer together than the link takes them are lost however small the window is. So
// a flow that loses many packets while hardly any of its own are waiting is paced by what arrives, as BBR is,
// until the losses are over.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/congestion_controller.hh"
#include "transport/windowed_filter.hh"

namespace ccgym {

class ShallowQueue {
 public:
  // Both say whether `pacing` may be another from now on.
  bool on_ack(Time now, const AckEvent& ack);
  bool on_loss(std::span<const LostPacket> lost, int64_t inflight_bytes, const RttStats& rtt);

  [[nodiscard]] std::optional<Rate> pacing() const;  // at most; absent: the queue is deep enough

 private:
  bool on_{false};
  double loss_share_{0};  // of the packets lately sent; 0: none were lost, and no rate is known
  WindowedMax<double> delivery_rate_mbps_{};
};

}  // namespace ccgym
