// HyStart: leaves slow start before the queue overflows (Ha and Rhee, "Taming the Elephants: New TCP Slow
// Start", Computer Networks 55, 2011), with the constants of Linux's tcp_cubic.c.
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class HyStart {
 public:
  // To be called for each ACK in slow start; returns true when slow start should end.
  bool on_ack(Time now, const AckEvent& ack, double cwnd_packets);

  // To be called after a time-out, when slow start begins again.
  void restart() { exit_found_ = false; }

 private:
  void begin_round(Time now, uint64_t next_seq);
  [[nodiscard]] bool train_is_long(Time now, Time min_rtt);
  [[nodiscard]] bool delay_has_risen(const RttStats& rtt);

  uint64_t round_ends_at_seq_{0};  // the ACK of this packet, or of a later one, begins the next round
  Time round_began_{};
  Time last_ack_{};  // the newest ACK of the train
  Time round_min_rtt_{Time::max()};
  int samples_{0};
  bool exit_found_{false};
};

}  // namespace ccgym
