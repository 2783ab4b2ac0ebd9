// Keeps a flow from overflowing a queue that has room for a few packets only.
//
// There, packets that leave closer together than the link takes them are lost however small the window is. So
// a flow that loses many packets while hardly any of its own are waiting is paced by what arrives, as BBR is,
// until the losses are over or its packets wait after all. The window is then no more than a guard: where
// ACKs come back late or in bunches, one that counts on them leaves the link idle.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/congestion_controller.hh"
#include "transport/windowed_filter.hh"

namespace ccgym {

class ShallowQueue {
 public:
  // Both say whether `pacing` or `window_bytes` may be another from now on.
  bool on_ack(Time now, const AckEvent& ack);
  bool on_loss(std::span<const LostPacket> lost, int64_t inflight_bytes, const RttStats& rtt);

  // At most; absent: the queue is deep enough.
  [[nodiscard]] std::optional<Rate> pacing() const;
  // The window in place of `asked_bytes`, no smaller than that.
  [[nodiscard]] int64_t window_bytes(int64_t asked_bytes) const;

 private:
  void note_delays(const AckEvent& ack);
  void note_path(Time now, const AckEvent& ack);

  Time least_forward_{Time::max()};  // from sender to receiver, plus the clocks' offset
  Time queueing_{};                  // of the newest packet; with its way back if the receiver has no clock
  Time smoothed_queueing_{};

  int64_t arrived_packets_{0};
  bool on_{false};
  double loss_share_{0};     // of the packets lately sent; 0: none were lost, and the path is not measured
  int64_t packet_bytes_{0};  // of the newest packet
  WindowedMax<double> delivery_rate_mbps_{};
  WindowedMax<Time> empty_rtt_{};  // without a queue: what the ACKs' way adds is in it
};

}  // namespace ccgym
