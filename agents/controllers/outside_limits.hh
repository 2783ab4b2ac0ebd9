// Checks the limits that a controller written in C or Python sets, and converts them to the core's units.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "transport/congestion_controller.hh"

namespace ccgym {

// All throw std::runtime_error, which names the controller and the value.
//
// The window in bytes; `cwnd_packets` has to be from 0 to 1e9.
int64_t checked_window_bytes(std::string_view controller, double cwnd_packets, int64_t packet_bytes);
// `pacing_mbps` has to be from 1e-6 to 1e9.
Rate checked_pacing(std::string_view controller, double pacing_mbps);
// `next_timer_ms` has to be from 0 to 1e12.
Time checked_timer(std::string_view controller, double next_timer_ms);

// To be called after on_timer: with a deadline in the past the driver would call on_timer for ever.
void check_timer_moved(std::string_view controller, std::optional<Time> next_timer, Time now);

}  // namespace ccgym
