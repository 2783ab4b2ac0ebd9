// Whether the queue stays as it is from one round trip to the next while this flow does not drain it.
//
// If it stays, a queue that falls shows that others drain it. If not, the link's service varies by itself, as
// that of cellular links and of mahimahi's Poisson links, and the queue falls just as often without others.
#pragma once

#include <optional>

#include "transport/congestion_controller.hh"

namespace ccgym {

class QueueSteadiness {
 public:
  void on_ack(Time now, const RttStats& rtt, double cwnd_packets);
  void on_own_drain();  // the queue then is not compared with that before or after

  [[nodiscard]] bool is_unsteady() const;

 private:
  void compare(Time least, Time noise);

  Time round_ends_at_{};
  Time least_{Time::max()};       // least queueing in the present round trip
  std::optional<Time> before_{};  // in the one before it; absent after an own drain
  double steady_part_{0.5};       // of the round trips; older ones count less
  int round_trips_{0};
};

}  // namespace ccgym
