// Lets the queue of a bottleneck run empty now and then, so that every flow on it learns how long the path
// is.
//
// A flow that comes to a standing queue takes the queue for a part of the path and claims more than its
// share, as Vegas does. Here, whoever has not seen the queue empty for kDrainRtts round trips keeps its
// window for one round trip below what the path alone would hold. An empty queue is seen by all flows at once
// and starts all their clocks, so that they drain together from then on (as BBR's ProbeRTT, but within some
// round trips, not in 10 s).
#pragma once

#include <cstdint>
#include <optional>

#include "transport/congestion_controller.hh"

namespace ccgym {

// What a drain has shown.
struct Drained {
  double cwnd_packets{0};  // before it
  Time smoothed_rtt{};     // before it
  double left{0};          // of the queue, as a share: little if it was ours, or the others drained as well
};

class QueueDrain {
 public:
  // Of the drain whose effect has been seen by now.
  std::optional<Drained> on_ack(Time now, const RttStats& rtt, double cwnd_packets);

  [[nodiscard]] double limit(double cwnd_packets) const;  // what of a window may be used now
  [[nodiscard]] bool limiting() const { return phase_ == Phase::draining; }
  // A decision before the effect of a drain has been seen would answer to the drain itself.
  [[nodiscard]] bool on() const { return phase_ != Phase::filled; }

 private:
  enum class Phase : uint8_t {
    filled,    // there is a queue, or none
    draining,  // the window is limited, for a round trip
    watching,  // it is no longer, and the ACKs tell what has come of it
  };

  void begin(Time now, const RttStats& rtt, double cwnd_packets);
  void follow(Time now, const RttStats& rtt);

  Phase phase_{Phase::filled};
  Time ends_at_{};                  // of the phase, unless the queue is filled
  std::optional<Time> empty_at_{};  // when the queue was empty last, or the last drain ended
  double drained_cwnd_packets_{0};
  double cwnd_packets_{0};  // before the drain, with the smoothed RTT of then
  Time smoothed_rtt_{};
  Time least_rtt_{};  // since the drain began
};

}  // namespace ccgym
