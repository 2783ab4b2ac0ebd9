// What an expert that knows the ideal window would have done: the label of imitation.
#pragma once

#include "agents/policy/policy.hh"

namespace ccgym {

// The act that brings a window of `cwnd_packets` nearest to `ideal_packets`.
//   indigo: the class whose outcome lies nearest; ties go to the lowest class, as in Indigo.
//   log_window: the logarithm of what leads there, within what one step may do. The sender rounds windows
//     up to whole packets: the aim is the middle of those that it rounds to the ideal one.
float expert_act(ActionSet actions, double cwnd_packets, double ideal_packets);

}  // namespace ccgym
