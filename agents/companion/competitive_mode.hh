// Holds its own against flows that fill every queue (Copa, Arun and Balakrishnan, NSDI 2018, section 2.2).
//
// Flows of our kind empty the queue together. When a queue stays although we probed, either somebody fills it
// or the path has become longer; the share of the link tells which (link_share.hh). Beside somebody the
// window is that of one more Cubic flow, up to little more than an even share with one rival, until the link
// is ours alone. A new flow need not wait for probes (presumed_rival.hh).
//
// The drains of a flow with a large part of the link empty the queue whoever shares it, above all where a
// Cubic's own cuts nearly do. Such a flow suspected nobody, and lost some of its part with each of them. So
// it goes by what it observes as well: flows of our kind drain meanwhile, a rival does not. Where it has no
// more packets in the queue than it keeps by itself, the queue is its own.
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
  // Of a probe of ours. Where a queue is `unsteady` by itself, that it stays tells of nobody: after an outage
  // of 1.7 s a lone flow on a recorded cellular link took itself for one of two, and had 76 % of the link
  // over its 30 s in place of 91.
  void on_probe_result(const ProbeResult& result, const LinkShare& link_share, bool unsteady);
  // Of a time of observing, in which we left the queue to others; `unsteady` as above.
  void on_observed(const ProbeResult& result, const LinkShare& link_share, bool unsteady);
  // The window from now on. An answer that waited for the network's next decision would lose packets
  // meanwhile and count as two: so a flow had 30 % of the link beside a Cubic in place of 36 %.
  [[nodiscard]] double on_loss(Time now, std::span<const LostPacket> lost, double cwnd_packets);
  void on_ack(Time now, const RttStats& rtt);

  void leave();  // nobody is suspected any more

  // The window where the network wants `wanted_packets`.
  [[nodiscard]] double window(Time now, const RttStats& rtt, double wanted_packets,
                              const LinkShare& link_share);
  [[nodiscard]] bool on() const { return on_; }
  [[nodiscard]] bool suspects() const {  // somebody
    return evidence_ > 0 || presumed_.watches() || rival_drains_.suspected();
  }
  [[nodiscard]] bool asks_for_share() const;  // with two packets, if it has no more
  // The last probe failed, not for the first time or in a long queue: the next one shall not wait.
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
  int undrained_{0};  // times of observing, in a row
  PresumedRival presumed_{};
  RivalDrains rival_drains_{};
  CubicWindow window_{};
  LossSynchronization synchronization_{};
  SpareRoom spare_room_{};
  double even_packets_{0};
  Time smoothed_rtt_{};
};

}  // namespace ccgym
