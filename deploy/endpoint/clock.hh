// The two clocks of an endpoint. The time of a flow is a difference of two readings of the steady clock.
#pragma once

#include <chrono>

#include "transport/units.hh"

namespace ccgym {

inline Time monotonic_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

// The clock of the kernel's receive timestamps. It may be set at any time, so that it only serves to compute
// how long a datagram has waited.
inline Time realtime_now() { return std::chrono::system_clock::now().time_since_epoch(); }

}  // namespace ccgym
