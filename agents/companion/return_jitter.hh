// How unevenly ACKs come back: what a host that is not scheduled for a while, or traffic on the return path,
// adds to some of the round trips.
//
// What such a delay does to the measured queue is no other flow's doing. It shows in the time from a packet's
// arrival to its ACK. That time is taken by two clocks, so only the difference of two such times means
// anything.
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

  // The longest return time less the shortest, of the last two to four round trips; 0 if the receiver does
  // not report arrival times.
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
  static constexpr int kRoundTrips = 2;  // as long as a probe and the ACKs that show its effect

  Range current_{};
  Range earlier_{};
  Time ends_at_{Time::min()};
};

}  // namespace ccgym
