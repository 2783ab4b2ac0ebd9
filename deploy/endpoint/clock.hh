// The two clocks an endpoint reads; the flow's own time is a difference of the steady one.
#pragma once

#include <chrono>

#include "transport/congestion_controller.hh"

namespace ccgym {

inline Time monotonic_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

// What the kernel stamps received datagrams with; it may be stepped, so only ages are taken from it.
inline Time realtime_now() { return std::chrono::system_clock::now().time_since_epoch(); }

}  // namespace ccgym
