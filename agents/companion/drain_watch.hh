// Detects that others drain the queue while this flow, in competitive mode, does not.
//
// A queue that falls by half and is back within four round trips, although this flow has lost no packet, was
// drained by flows of our kind: Cubic and NewReno reduce their windows on losses and come back slowly, and
// BBR's ProbeRTT is rarer (every 10 s).
#pragma once

#include <array>
#include <cstdint>

#include "transport/congestion_controller.hh"

namespace ccgym {

class DrainWatch {
 public:
  // Call it for every ACK that acknowledges a packet. Returns whether it is certain by now that others drain.
  bool on_ack(Time now, const RttStats& rtt);
  void on_own_cut() { uncut_round_trips_ = 0; }  // the flow lost a packet, or drains itself

 private:
  [[nodiscard]] bool has_fallen_and_is_back() const;

  Time round_ends_at_{};
  Time least_{Time::max()};       // least queueing in the present round trip
  std::array<Time, 6> leasts_{};  // of the six before it, the newest last
  int uncut_round_trips_{0};
  int evidence_{0};
};

}  // namespace ccgym
