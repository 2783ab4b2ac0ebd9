// What a policy knows of itself when it observes: nothing of it can be read from ACKs.
#pragma once

namespace ccgym {

struct OwnState {
  double cwnd_packets;
  // Of its companion, where it has one:
  bool probes{false};  // the queue is being probed, or the ACKs of a probe are still coming: no action counts
  bool sees_others{false};  // others are believed to be on the bottleneck
};

}  // namespace ccgym
