// Whether a loss of this flow hit the others at the full queue as well.
//
// Mostly it did: every flow that sends while the queue overflows loses packets. But where packets arrive in
// an order that repeats itself, those of the last flow are lost again and again (traffic phase effects; Floyd
// and Jacobson, 1991). In each millisecond of mahimahi's clock a sender in user space comes after a kernel's
// Cubic. Beside a Cubic that comes first, such a flow had less than 30 % of the link on 15 % of 150 links;
// since it undoes the reductions that it made alone, on none.
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class LossSynchronization {
 public:
  // The window is reduced at `now`, while the others have `others_packets` in flight.
  void on_reduction(Time now, Time smoothed_rtt, double others_packets) {
    tells_at_ = now + kRoundTrips * smoothed_rtt;
    before_packets_ = others_packets;
  }

  // True once for each reduction, if the others still have as many packets in flight.
  [[nodiscard]] bool lost_alone(Time now, double others_packets) {
    if (now < tells_at_) return false;
    tells_at_ = Time::max();
    return others_packets > kStays * before_packets_;
  }

 private:
  static constexpr int kRoundTrips = 2;  // one until a reduction shows, one until the smoothed RTT shows it
  // If more than this part of their packets is left, the others have not reduced their windows. It is close
  // to 1 because perhaps only some of several others have lost packets. With 1 a flow has 42 % beside a Cubic
  // that comes first instead of 43 % (80 links); with 0.95, 2 to 16 flows that have just begun have a Jain's
  // index of 0.954 instead of 0.958 (200 links).
  static constexpr double kStays = 0.98;

  Time tells_at_{Time::max()};
  double before_packets_{0};
};

}  // namespace ccgym
