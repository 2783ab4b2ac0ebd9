// How a policy lives with other flows on its bottleneck: a mechanism around what its network answers.
//
// The queue runs empty now and then (base_rtt_probe.hh). That tells of others (others.hh), unless the queue
// goes up and down by itself (queue_steadiness.hh). Where a flow suspects others, so does its share of the
// link (link_share.hh). Beside others it keeps some packets of its own in the queue, and not many more
// (shared_queue.hh); flows that fill every queue are answered (competitive_mode.hh), unless they turn out to
// be of our kind (drain_watch.hh, rendezvous.hh). A flow alone hardly notices: its window is the network's.
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
#include "agents/companion/queue_steadiness.hh"
#include "agents/companion/rendezvous.hh"
#include "agents/companion/shared_queue.hh"
#include "transport/congestion_controller.hh"
#include "transport/controller_config.hh"

namespace ccgym {

class Companion {
 public:
  explicit Companion(const ControllerConfig& config) : probe_(config.seed), rendezvous_(config.started_at) {}

  // Whether `limit`, `in_train` or `ack_clocked` is another from now on.
  bool on_ack(Time now, const AckEvent& ack, double cwnd_packets);
  // The window from now on.
  [[nodiscard]] double on_loss(Time now, std::span<const LostPacket> lost, double cwnd_packets) {
    drain_watch_.on_own_cut();
    return competitive_.on_loss(now, lost, cwnd_packets);
  }

  // The window to take from `now` on, where the network wants `wanted_packets`.
  [[nodiscard]] double window(Time now, const RttStats& rtt, double cwnd_packets, double wanted_packets);
  [[nodiscard]] double limit(double cwnd_packets) const {
    return rendezvous_.limit(std::min(probe_.limit(cwnd_packets), link_share_.limit(cwnd_packets)));
  }
  [[nodiscard]] bool in_train() const { return link_share_.in_train(); }  // packets leave unpaced
  // Of flows that send when an ACK comes and one that is evenly paced, the latter meets every full queue:
  // they take each place that gets free (traffic phase effects: Floyd and Jacobson, 1991). Paced it has 39 %
  // of the link beside one Cubic in the mean of 40 links in place of 46.
  [[nodiscard]] bool ack_clocked() const { return competitive_.on(); }
  [[nodiscard]] bool probes() const { return probe_.on() || rendezvous_.on(); }  // no action counts
  [[nodiscard]] std::vector<Metric> metrics() const;
  [[nodiscard]] bool sees_others() const { return others_.seen() || competitive_.on(); }

 private:
  bool measure_share(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold);
  [[nodiscard]] bool suspects_others() const;
  void on_probe_result(const ProbeResult& result);
  [[nodiscard]] bool finds_own_kind(Time now, const RttStats& rtt, double cwnd_packets);
  void on_own_kind(Time now);
  [[nodiscard]] bool drains() const { return probe_.limiting() || rendezvous_.drains(); }
  [[nodiscard]] Urgency urgency(const RttStats& rtt) const;

  BaseRttProbe probe_;
  Others others_{};
  QueueSteadiness steadiness_{};  // while it does nothing about the queue
  SharedQueue shared_queue_{};
  CompetitiveMode competitive_{};
  DrainWatch drain_watch_{};  // in competitive mode
  Rendezvous rendezvous_;     // likewise
  LinkShare link_share_{};    // while others are seen or suspected
  Time decided_at_{};         // the window, last
  bool measures_share_{false};
  int probes_{0};  // so far, drains and observing ones
};

}  // namespace ccgym
