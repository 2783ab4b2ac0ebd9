// Sees others drain the queue while the flow itself, in competitive mode, does not.
//
// A queue that falls by half and is back within four round trips, though the flow has lost no packet, was
// drained by flows of its own kind: Cubic and NewReno cut their windows upon losses and come back slowly, and
// BBR's ProbeRTT is rarer (every 10 s).
#pragma once

#include <array>
#include <cstdint>

#include "transport/congestion_controller.hh"

namespace ccgym {

class DrainWatch {
 public:
  // Whether others drain, as is certain by now. With an acknowledged packet.
  bool on_ack(Time now, const RttStats& rtt);
  void on_own_cut() { uncut_round_trips_ = 0; }  // the flow lost a packet, or drains itself

 private:
  [[nodiscard]] bool has_fallen_and_is_back() const;

  Time round_ends_at_{};
  Time least_{Time::max()};       // queueing in the round trip that goes on
  std::array<Time, 6> leasts_{};  // in those before it, the newest last
  int uncut_round_trips_{0};
  int evidence_{0};
};

}  // namespace ccgym
