// HyStart: leaves slow start before the queue overflows (Ha and Rhee, "Taming the Elephants: New TCP Slow
// Start", Computer Networks 55, 2011), with the constants of Linux's tcp_cubic.c.
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class HyStart {
 public:
  // An ACK in slow start; returns true when the window should stop doubling.
  bool on_ack(Time now, const AckEvent& ack, double cwnd_packets);

  // After a time-out slow start begins anew.
  void restart() { found_ = false; }

 private:
  void begin_round(Time now, uint64_t next_seq);
  [[nodiscard]] bool train_is_long(Time now, Time min_rtt);
  [[nodiscard]] bool delay_has_risen(const RttStats& rtt);

  uint64_t round_ends_at_seq_{0};  // the ACK of a packet from here on begins the next round
  Time round_began_{};
  Time last_ack_{};
  Time round_min_rtt_{Time::max()};
  int samples_{0};
  bool found_{false};
};

}  // namespace ccgym
