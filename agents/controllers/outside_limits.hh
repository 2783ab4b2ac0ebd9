// Checks the limits that a controller from outside sets, in the units of its language, before they are used.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "transport/congestion_controller.hh"

namespace ccgym {

// All throw std::runtime_error, which names the controller and the value.
int64_t checked_window_bytes(std::string_view controller, double cwnd_packets, int64_t packet_bytes);
Rate checked_pacing(std::string_view controller, double pacing_mbps);
Time checked_timer(std::string_view controller, double next_timer_ms);

// After an on_timer: a deadline in the past would fire for ever.
void check_timer_moved(std::string_view controller, std::optional<Time> next_timer, Time now);

}  // namespace ccgym
