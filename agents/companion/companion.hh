// The companion lets a policy share its bottleneck with other flows: it adjusts the window that the policy's
// network asks for.
//
// The queue is drained now and then (base_rtt_probe.hh). That shows whether there are other flows
// (others.hh), unless the queue goes up and down by itself (queue_steadiness.hh). When the flow suspects
// others, on a long path also if the queue peaks again and again (queue_peaks.hh), it measures its share of
// the link (link_share.hh). Beside others it keeps some packets of its own in the queue, and not many more
// (shared_queue.hh). Against flows that fill every queue it competes (competitive_mode.hh), unless they turn
// out to be of its own kind (drain_watch.hh, rendezvous.hh). Alone on the link it hardly changes anything:
// the window is the network's.
//
// "Flows of our kind" are flows with this companion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "agents/companion/base_rtt_probe.hh"
#include "agents/companion/competitive_mode.hh"
#include "agents/companion/drain_watch.hh"
#include "agents/companion/link_share.hh"
#include "agents/companion/others.hh"
#include "agents/companion/queue_peaks.hh"
#include "agents/companion/queue_steadiness.hh"
#include "agents/companion/rendezvous.hh"
#include "agents/companion/shared_queue.hh"
#include "transport/congestion_controller.hh"
#include "transport/controller_config.hh"

namespace ccgym {

class Companion {
 public:
  // `preference`: from low delay (0) to full throughput (1). A lone flow's own queue is longer above 0.7.
  Companion(const ControllerConfig& config, double preference);

  // Returns whether `limit`, `in_train` or `ack_clocked` may have changed.
  bool on_ack(Time now, const AckEvent& ack, double cwnd_packets);
  // Returns the window to use from now on.
  [[nodiscard]] double on_loss(Time now, std::span<const LostPacket> lost, double cwnd_packets) {
    drain_watch_.on_own_cut();
    return competitive_.on_loss(now, lost, cwnd_packets);
  }

  // The window to use from `now` on, when the network wants `wanted_packets`.
  [[nodiscard]] double window(Time now, const RttStats& rtt, double cwnd_packets, double wanted_packets);
  [[nodiscard]] double limit(double cwnd_packets) const {
    return rendezvous_.limit(std::min(probe_.limit(cwnd_packets), link_share_.limit(cwnd_packets)));
  }
  [[nodiscard]] bool in_train() const { return link_share_.in_train(); }  // packets leave without pacing
  // At a full queue an evenly paced flow loses to flows that send when an ACK arrives: they take each place
  // that becomes free, and the paced packets find the queue full (traffic phase effects: Floyd and Jacobson,
  // 1991). Beside one Cubic, in the mean of 40 links, a paced flow has 39 % of the link, an ACK-clocked one
  // 46 %.
  [[nodiscard]] bool ack_clocked() const { return competitive_.on(); }
  [[nodiscard]] bool probes() const {
    return probe_.on() || rendezvous_.on();
  }  // decisions are ignored meanwhile
  [[nodiscard]] std::vector<Metric> metrics() const;
  [[nodiscard]] bool sees_others() const { return others_.seen() || competitive_.on(); }

 private:
  bool measure_share(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold);
  [[nodiscard]] bool shares_link() const;
  [[nodiscard]] bool suspects_others() const;
  void on_probe_result(const ProbeResult& result);
  [[nodiscard]] bool finds_own_kind(Time now, const RttStats& rtt, double cwnd_packets);
  void on_own_kind(Time now);
  [[nodiscard]] bool drains() const { return probe_.limiting() || rendezvous_.drains(); }
  [[nodiscard]] Urgency urgency(const RttStats& rtt) const;

  Time lonely_queue_;  // a longer queue is not a lone flow's own
  BaseRttProbe probe_;
  Others others_{};
  QueueSteadiness steadiness_{};  // measured while this flow does not drain the queue
  QueuePeaks peaks_{};            // seen by a flow that takes itself for alone
  SharedQueue shared_queue_{};
  CompetitiveMode competitive_{};
  DrainWatch drain_watch_{};  // only in competitive mode
  Rendezvous rendezvous_;     // only in competitive mode
  LinkShare link_share_{};    // only while others are seen or suspected
  Time decided_at_{};         // when the window was last decided
  bool measures_share_{false};
  int probes_{0};  // so far, both drains and observations
};

}  // namespace ccgym
