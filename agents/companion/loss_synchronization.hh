// Whether the others at a full queue have paid for a loss of ours as well.
//
// Mostly they have: whoever sends while the queue overflows loses. But where packets come in an order that
// repeats itself, those of the last flow are lost again and again (traffic phase effects; Floyd and Jacobson,
// 1991). A sender in user space comes after a kernel's Cubic in each millisecond of mahimahi's clock: it had
// less than 30 % of the link on 15 % of 150 links beside one that comes first, on none since it takes back
// what it has paid alone.
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class LossSynchronization {
 public:
  // The window is reduced at `now`, when the others have `others_packets` on the way.
  void on_reduction(Time now, Time smoothed_rtt, double others_packets) {
    tells_at_ = now + kRoundTrips * smoothed_rtt;
    before_packets_ = others_packets;
  }

  // True once for each reduction, where the others still have as much on the way.
  [[nodiscard]] bool lost_alone(Time now, double others_packets) {
    if (now < tells_at_) return false;
    tells_at_ = Time::max();
    return others_packets > kStays * before_packets_;
  }

 private:
  static constexpr int kRoundTrips = 2;  // one until a reduction shows, one for the smoothed RTT to show it
  // What more than this part is left of has not been reduced. The others may be several, of whom some have
  // lost. With 1 a flow has 42 % beside a Cubic that comes first in place of 43 (80 links), with 0.95 2 to 16
  // flows that have only begun have a Jain's index of 0.954 in place of 0.958 (200 links).
  static constexpr double kStays = 0.98;

  Time tells_at_{Time::max()};
  double before_packets_{0};
};

}  // namespace ccgym
