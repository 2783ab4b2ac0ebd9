// What a flow keeps in a queue that it shares.
//
// A flow keeps some packets of its own in the queue, fewer in proportion to its rate the faster it is, so
// that each length of the queue goes with one division of the link's rate. It does not keep many more than
// those: a policy's network leaves a queue of a millisecond or two, and on a fast link that is more packets
// than schemes keep that count them, such as Copa and Vegas. The bound is FAST TCP's law (Wei, Jin, Low and
// Hegde, IEEE/ACM ToN 2006): what the path holds at the flow's delivery rate, and some packets.
//
// A network that wants far more than the bound has seen the rate rise or the queue run empty. It gets what it
// wants, unless the flow already has its share of the link and its packets in the queue; on a short path a
// flow with a small share gets only a part of it. Where the link's own rate varies, there is no division of
// it to keep, and no bound.
//
// The window approaches its target in steps, as in FAST TCP. The network decides as for a flow alone, whose
// queue follows its window within a round trip, and corrects the whole difference at once. Beside a slower
// flow its window would go from half to twice and back: the link would stand idle in between, and each peak
// would drive the other flow back.
#pragma once

#include "agents/companion/link_share.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

// How many packets of its own a flow keeps in the queue.
[[nodiscard]] double own_packets(const RttStats& rtt, double cwnd_packets);

// The most that the bound allows at any share of the link; a network that has seen room goes beyond.
[[nodiscard]] double most_own_packets(const RttStats& rtt, double cwnd_packets);

class SharedQueue {
 public:
  void on_ack(const AckEvent& ack);

  // The window when the network wants `wanted_packets`, after `cwnd_packets` for a time of `step`.
  // `return_jitter`: by how much the return time of ACKs varies (return_jitter.hh).
  [[nodiscard]] double window(Time step, const RttStats& rtt, double cwnd_packets, double wanted_packets,
                              const LinkShare& link_share, Time return_jitter) const;

 private:
  [[nodiscard]] double target(const RttStats& rtt, double cwnd_packets, double asked_packets, double share,
                              Time return_jitter) const;

  double delivered_packets_per_ms_{0};  // in the last round trip
};

}  // namespace ccgym
