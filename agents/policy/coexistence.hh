// How a policy lives with other flows on its bottleneck: a mechanism around what its network answers.
//
// The queue runs empty now and then (queue_drain.hh). In company every flow keeps some packets of its own in
// it, fewer per rate the faster it is, so that one queue has one division of the rate; and flows that fill
// every queue are answered (queue_contest.hh). A flow alone hardly notices: its window is the network's.
#pragma once

#include "agents/policy/queue_contest.hh"
#include "agents/policy/queue_drain.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class Coexistence {
 public:
  // Whether `limit` is another from now on.
  bool on_ack(Time now, const RttStats& rtt, double cwnd_packets);
  void on_loss(Time now, std::span<const LostPacket> lost) { contest_.on_loss(now, lost); }

  // The window to take from `now` on, where the network wants `wanted_packets`.
  [[nodiscard]] double window(Time now, const RttStats& rtt, double cwnd_packets, double wanted_packets);
  [[nodiscard]] double limit(double cwnd_packets) const { return drain_.limit(cwnd_packets); }
  [[nodiscard]] bool in_company() const { return drains_in_company_ > 0 || contest_.on(); }

 private:
  void learn_from(const Drained& drained);

  QueueDrain drain_{};
  QueueContest contest_{};
  int drains_{0};             // so far, with the times of listening
  int drains_in_company_{0};  // of ours to come, before others count as gone unless they are heard again
};

}  // namespace ccgym
