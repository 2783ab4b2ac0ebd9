// The state of the policy itself that is part of an observation and cannot be measured from ACKs.
#pragma once

namespace ccgym {

struct OwnState {
  double cwnd_packets;
  // Of its companion, if it has one:
  bool probes{false};       // a probe is under way, or its ACKs are still arriving: actions are ignored
  bool sees_others{false};  // it believes that other flows are on the bottleneck
};

}  // namespace ccgym
