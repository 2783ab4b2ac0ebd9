// Tells a flow on a long path to measure its share of the link, because its queue peaks again and again.
//
// Flows with much shorter round trips drain the queue many times in each round trip of this flow. It never
// finds the queue filled for long enough to probe it (base_rtt_probe.hh), takes itself for alone, and the
// others give way to each of its peaks. A queue that peaks for some round trips in a row may be its own all
// the same, so the flow sends some packet trains (link_share.hh): a share below that of a flow alone shows
// others. When this rule was added, two flows, one of 8 times the other's round trip, had a Jain's index of
// 0.991 on 60 links instead of 0.937, groups of 2 to 8 flows with up to 8 times the shortest round trip 0.921
// on 100 instead of 0.898.
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class QueuePeaks {
 public:
  // Call it for every ACK. `undisturbed`: neither this flow nor the link itself makes the queue go up and
  // down. `return_jitter`: by how much the return time of ACKs varies (return_jitter.hh).
  void on_ack(Time now, const RttStats& rtt, double cwnd_packets, Time return_jitter, bool undisturbed);
  // `trains` have been measured since the flow began to ask.
  void on_trains(int trains);

  [[nodiscard]] bool asks_for_share() const { return asks_; }

 private:
  Time round_ends_at_{};
  Time peak_{};             // queueing in the present round trip
  bool undisturbed_{true};  // for all of it so far
  int round_trips_{0};      // with a peak, in a row
  bool asks_{false};
};

}  // namespace ccgym
