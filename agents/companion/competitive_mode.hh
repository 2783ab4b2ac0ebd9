// Competes with flows that fill every queue (the mode of that name in Copa: Arun and Balakrishnan, NSDI 2018,
// section 2.2).
//
// Flows of our kind empty the queue together. If a queue stays although this flow drained, either a rival
// fills it or the path has become longer; the share of the link tells which (link_share.hh). Beside a rival
// the window is that of one more Cubic flow, capped a little above an even share with one rival, until this
// flow has the link to itself. A new flow need not wait for its probes (presumed_rival.hh).
//
// The drains of a flow with a large share of the link empty the queue whoever else is there, above all where
// a Cubic's own window cuts nearly empty it. Such a flow suspected nobody, and lost some of its share with
// each drain. So it also uses the probes in which it only observes: flows of our kind drain meanwhile, a
// rival does not. If the flow has no more packets in the queue than it keeps by itself, the queue is its own
// and shows nothing.
#pragma once

#include <span>

#include "agents/companion/base_rtt_probe.hh"
#include "agents/companion/cubic_window.hh"
#include "agents/companion/link_share.hh"
#include "agents/companion/loss_synchronization.hh"
#include "agents/companion/presumed_rival.hh"
#include "agents/companion/rival_drains.hh"
#include "agents/companion/spare_room.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class CompetitiveMode {
 public:
  // The result of this flow's own drain. `unsteady`: the queue goes up and down by itself, so one that stays
  // is no evidence. Without this exception a lone flow on a recorded cellular link took itself for one of two
  // after an outage of 1.7 s, and had 76 % of the link over its 30 s instead of 91 %.
  void on_probe_result(const ProbeResult& result, const LinkShare& link_share, bool unsteady);
  // The result of a probe in which this flow only observed; `unsteady` as above.
  void on_observed(const ProbeResult& result, const LinkShare& link_share, bool unsteady);
  // Returns the window to use from now on. If the reduction waited for the network's next decision, more
  // packets would be lost meanwhile and count as a second loss: a flow had 30 % of the link beside a Cubic
  // that way, with a reduction at once 36 %.
  [[nodiscard]] double on_loss(Time now, std::span<const LostPacket> lost, double cwnd_packets);
  void on_ack(Time now, const RttStats& rtt);

  void leave();  // no rival is suspected any more

  // The window when the network wants `wanted_packets`.
  [[nodiscard]] double window(Time now, const RttStats& rtt, double wanted_packets,
                              const LinkShare& link_share);
  [[nodiscard]] bool on() const { return on_; }
  [[nodiscard]] bool suspects() const {  // that there is a rival
    return evidence_ > 0 || presumed_.watches() || rival_drains_.suspected();
  }
  [[nodiscard]] bool asks_for_share() const;  // even with a window of only two packets
  // The next probe shall come early: the last one failed, and others before it or in a long queue.
  [[nodiscard]] bool wants_probe() const { return wants_probe_; }

 private:
  void weigh(const ProbeResult& result, const LinkShare& link_share, bool unsteady);
  void on_probe_success();
  void reconsider(Time now, const LinkShare& link_share);
  void decide(Time now, const RttStats& rtt, double wanted_packets, const LinkShare& link_share);
  [[nodiscard]] double others_packets() const;
  void step_back(Time now, Time smoothed_rtt, const LinkShare& link_share);

  bool on_{false};
  bool wants_probe_{false};
  int evidence_{0};
  int undrained_{0};  // observations in a row in which nobody drained
  PresumedRival presumed_{};
  RivalDrains rival_drains_{};
  CubicWindow window_{};
  LossSynchronization synchronization_{};
  SpareRoom spare_room_{};
  double even_packets_{0};
  Time smoothed_rtt_{};
};

}  // namespace ccgym
