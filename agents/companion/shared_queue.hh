// What a flow keeps in a queue that it shares.
//
// Some packets of its own, fewer per rate the faster it is, so that one queue has one division of the rate.
// But not many more: the network of a policy leaves a queue of a millisecond or two, on a fast link more
// packets than those keep that count them, as Copa and Vegas do. The bound is FAST TCP's law (Wei, Jin, Low
// and Hegde, IEEE/ACM ToN 2006): what the path holds at the rate of delivery, and some packets.
//
// A network that wants far more than that has seen the rate rise or the queue run empty. It gets it, unless
// the flow has its share of the link, and of the queue; on a short path a small share gets a part of it.
// Where the link's own rate varies there is no division of it to keep.
//
// It goes there in parts of the way, as in FAST TCP. The network is of a flow alone, whose window the queue
// follows within a round trip, and it answers in full. Beside a flow that is slower its window would go from
// half to twice and back: the link stands idle in between, and each peak drives the other one back.
#pragma once

#include "agents/companion/link_share.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

// Of its own, a flow keeps in the queue.
[[nodiscard]] double own_packets(const RttStats& rtt, double cwnd_packets);

// The most of them that any share of the link allows; a network that has seen room goes beyond.
[[nodiscard]] double most_own_packets(const RttStats& rtt, double cwnd_packets);

class SharedQueue {
 public:
  void on_ack(const AckEvent& ack);

  // The window where the network wants `wanted_packets` and has had `cwnd_packets` for the time of a `step`;
  // `return_jitter` is by how much the ACKs' way back varies (return_jitter.hh).
  [[nodiscard]] double window(Time step, const RttStats& rtt, double cwnd_packets, double wanted_packets,
                              const LinkShare& link_share, Time return_jitter) const;

 private:
  [[nodiscard]] double target(const RttStats& rtt, double cwnd_packets, double asked_packets, double share,
                              Time return_jitter) const;

  double delivered_packets_per_ms_{0};  // in the last round trip
};

}  // namespace ccgym
