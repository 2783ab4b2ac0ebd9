// Takes what rivals that fill queues leave unused of a link.
//
// No rival needs what an empty queue leaves unused, and only a flow that takes it notices that its rivals
// have gone. But a flow that takes all of it at once fills the queue within its next round trip, gives it
// back, and does so again: in real mahimahi a kernel's Cubic on 100 Mbit/s, with a queue of 0.4 BDP, lost a
// packet each time, came down to 14 Mbit/s, and a third of the link stayed unused. With a part of it per
// round trip nothing stays unused.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "transport/congestion_controller.hh"

namespace ccgym {

class SpareRoom {
 public:
  // `cwnd_packets` and the room taken by `now`, when the network wants `wanted_packets`.
  double window(Time now, const RttStats& rtt, double cwnd_packets, double wanted_packets) {
    const Time step = now - std::exchange(decided_at_, now);
    const double round_trips = std::min(1.0, in_ms(step) / in_ms(rtt.smoothed));
    const double room_packets = std::max(0.0, wanted_packets - cwnd_packets);
    const bool queue_stands = rtt.smoothed - rtt.min > kStandingQueue;
    packets_ += round_trips * (queue_stands ? -kGivenBack * packets_ : kTaken * room_packets);
    packets_ = std::min(packets_, room_packets);
    return cwnd_packets + packets_;
  }

 private:
  static constexpr Time kStandingQueue = std::chrono::milliseconds{5};  // a shorter one leaves room
  static constexpr double kTaken = 0.25;                                // of the room, within a round trip
  static constexpr double kGivenBack = 0.5;  // of the room taken, within a round trip

  double packets_{0};
  Time decided_at_{};
};

}  // namespace ccgym
