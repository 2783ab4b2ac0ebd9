// Keeps a flow from overflowing a queue that has room for a few packets only.
//
// In such a queue, packets that leave closer together than the link serves them are lost however small the
// window is. So a flow that loses many packets while hardly any of its own are queued is paced by its
// delivery rate, as BBR is, until the losses end or its packets queue after all. The window is then only a
// safeguard: where ACKs come back late or in bunches, a flow that is limited by its window leaves the link
// idle.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/congestion_controller.hh"
#include "transport/windowed_filter.hh"

namespace ccgym {

class ShallowQueue {
 public:
  // Both return whether `pacing` or `window_bytes` may have changed.
  bool on_ack(Time now, const AckEvent& ack);
  bool on_loss(std::span<const LostPacket> lost, int64_t inflight_bytes, const RttStats& rtt);

  // The highest pacing rate; absent: the queue is deep enough.
  [[nodiscard]] std::optional<Rate> pacing() const;
  // The window to use instead of `asked_bytes`, no smaller than that.
  [[nodiscard]] int64_t window_bytes(int64_t asked_bytes) const;

 private:
  void note_delays(const AckEvent& ack);
  void note_path(Time now, const AckEvent& ack);

  Time least_forward_{Time::max()};  // one-way delay to the receiver, plus the clocks' offset
  Time queueing_{};  // of the newest packet; includes the return path if the receiver reports no time
  Time smoothed_queueing_{};

  int64_t arrived_packets_{0};
  bool on_{false};
  double loss_share_{0};     // of the packets lately sent; 0: none were lost, and the path is not measured
  int64_t packet_bytes_{0};  // of the newest packet
  WindowedMax<double> delivery_rate_mbps_{};
  WindowedMax<Time> empty_rtt_{};  // without the data's queue; delays of the ACKs are in it
};

}  // namespace ccgym
