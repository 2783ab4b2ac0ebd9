// The standing queue on a flow's path: the least queueing within a round trip. It falls when others drain it.
#pragma once

#include <algorithm>
#include <utility>

#include "transport/congestion_controller.hh"

namespace ccgym {

class StandingQueue {
 public:
  void on_ack(Time now, const RttStats& rtt) {
    least_rtt_ = std::min(least_rtt_, rtt.latest);
    if (now <= round_ends_at_) return;
    round_ends_at_ = now + rtt.smoothed;
    last_least_rtt_ = std::exchange(least_rtt_, rtt.latest);
  }

  // Of the last complete round trip.
  [[nodiscard]] Time least(const RttStats& rtt) const { return last_least_rtt_ - rtt.min; }

 private:
  Time round_ends_at_{};
  Time least_rtt_{Time::max()};  // of the present round trip
  Time last_least_rtt_{};        // of the one before it
};

}  // namespace ccgym
