// How unevenly ACKs come back: what a host that is not scheduled for a while, or traffic on the way back,
// adds to some of the round trips.
//
// Such a pause is the flow's own, and what it does to a queue is nobody else's doing. It shows in the time
// from a packet's arrival to its ACK, by two clocks: only the difference of two such times means anything.
#pragma once

#include <algorithm>
#include <utility>

#include "transport/congestion_controller.hh"

namespace ccgym {

class ReturnJitter {
 public:
  void on_ack(Time now, const AckEvent& ack) {
    if (ack.acked.empty() || !ack.newest().received_at) return;
    if (now > ends_at_) {
      earlier_ = std::exchange(current_, {});
      ends_at_ = now + kRoundTrips * ack.rtt.smoothed;
    }
    current_.add(now - *ack.newest().received_at);
  }

  // The longest way back less the shortest one, of the last two to four round trips; 0 where the receiver
  // does not tell its time.
  [[nodiscard]] Time spread() const {
    const Time least = std::min(current_.least, earlier_.least);
    return least == Time::max() ? Time{} : std::max(current_.most, earlier_.most) - least;
  }

 private:
  struct Range {
    Time least{Time::max()};
    Time most{Time::min()};

    void add(Time time) {
      least = std::min(least, time);
      most = std::max(most, time);
    }
  };
  static constexpr int kRoundTrips = 2;  // a probe and the ACKs that tell of it take as long

  Range current_{};
  Range earlier_{};
  Time ends_at_{Time::min()};
};

}  // namespace ccgym
