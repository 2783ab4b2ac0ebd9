// Shows flows of our kind that take each other for rivals what they are.
//
// In competitive mode a flow does not drain the queue, so flows that all compete never see it empty.
// Therefore, at certain moments of the wall clock, the same on every host, each of them sends next to nothing
// for two round trips. If the queue is empty then, and this flow's own window was not most of it, the others
// are of our kind.
//
// A queue that is shorter than the path is also left empty by BBR, which sends no faster than it takes its
// part of the link to be, and by a Cubic: then the flow leaves competitive mode, and evidence gathers anew
// within seconds. If only long queues counted, a flow would have 0.50 of 50 links beside BBR 3 instead of
// 0.49; but groups of our kind would compete for good in short queues: over 110 groups of 2 to 16 flows the
// queue was 24.8 times one flow's in the mean instead of 18.4, and in one group in four more than 16.8 times
// instead of 12.2. Beside a Cubic the rendezvous costs a flow one or two per cent of the link. The clocks of
// the hosts may differ by 50 ms; those of hosts that keep time by NTP differ by less.
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class Rendezvous {
 public:
  explicit Rendezvous(Time started_at) : started_at_(started_at) {}  // the flow's start, by the wall clock

  // Call it for every ACK that acknowledges a packet, in competitive mode. Returns whether it is certain by
  // now that the others are of our kind.
  bool on_ack(Time now, const RttStats& rtt, double cwnd_packets, double link_packets_per_ms);
  // Call it for every ACK outside competitive mode.
  void reset() {
    if (asked_at_ > Time{}) *this = Rendezvous{started_at_};
  }

  [[nodiscard]] double limit(double cwnd_packets) const;  // how much of the window may be used now
  [[nodiscard]] bool drains() const { return phase_ == Phase::draining; }
  [[nodiscard]] bool on() const { return phase_ != Phase::waiting; }

 private:
  enum class Phase : uint8_t {
    waiting,   // for the next rendezvous
    draining,  // the window is limited
    settling,  // the ACKs show what became of the queue
  };

  [[nodiscard]] bool is_due(Time asked_at, Time now, Time smoothed_rtt) const;
  void begin(Time now, const RttStats& rtt, double cwnd_packets);
  bool end(const RttStats& rtt, double link_packets_per_ms);
  [[nodiscard]] bool are_of_our_kind(const RttStats& rtt, double link_packets_per_ms) const;
  // Whether others have drained, even if the min RTT was not known. `own_ms`: the most queueing that the
  // flow's own packets can have caused.
  [[nodiscard]] bool have_drained(double own_ms) const;
  [[nodiscard]] bool some_are_of_our_kind(double link_packets_per_ms) const;
  [[nodiscard]] Time slot(Time smoothed_rtt) const;
  [[nodiscard]] Time begun(Time now, Time slot) const;

  Time started_at_;
  Phase phase_{Phase::waiting};
  Time ends_at_{};  // of the phase; not used while `waiting`
  Time asked_at_{};
  RttStats before_{};  // when the drain began
  double cwnd_packets_{0};
  Time least_rtt_{};  // since the drain began
  int doublings_{0};  // of the time between two rendezvous
};

}  // namespace ccgym
