// Whether a queue stays as it is from one round trip to the next, while its flow does nothing about it.
//
// Where it does, a queue that falls tells of somebody who drains it. Where it does not, the link's service
// varies by itself, as that of cellular links and of mahimahi's Poisson ones: it falls just as often.
#pragma once

#include <optional>

#include "transport/congestion_controller.hh"

namespace ccgym {

class QueueSteadiness {
 public:
  void on_ack(Time now, const RttStats& rtt, double cwnd_packets);
  void on_own_drain();  // the queue then is compared neither with what was before nor with what comes after

  [[nodiscard]] bool is_unsteady() const;

 private:
  void compare(Time least, Time noise);

  Time round_ends_at_{};
  Time least_{Time::max()};       // queueing in the round trip that goes on
  std::optional<Time> before_{};  // in the one before it
  double steady_part_{0.5};       // of the round trips; older ones count less
  int round_trips_{0};
};

}  // namespace ccgym
