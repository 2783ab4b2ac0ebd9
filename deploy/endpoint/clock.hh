// The two clocks that an endpoint reads; a flow's time is a difference of the steady clock.
#pragma once

#include <chrono>

#include "transport/congestion_controller.hh"

namespace ccgym {

inline Time monotonic_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

// The clock of the kernel's receive timestamps; it may be set, so only ages are taken from it.
inline Time realtime_now() { return std::chrono::system_clock::now().time_since_epoch(); }

}  // namespace ccgym
