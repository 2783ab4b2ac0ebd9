// The send limits of a rate-based scheme, which has no congestion window.
#pragma once

#include <algorithm>
#include <chrono>

#include "transport/congestion_controller.hh"

namespace ccgym {

// The window only bounds the sender's memory. It is two seconds at `rate`, or two RTTs if these are longer,
// so that the pacing rate is what limits; at least 10 packets.
inline SendLimits rate_limits(Rate rate, Time smoothed_rtt, int64_t packet_bytes) {
  constexpr Time kWindow = std::chrono::seconds{2};
  constexpr int kWindowRtts = 2;
  constexpr int64_t kMinWindowPackets = 10;
  const double window_bytes = rate.bytes_in(std::max(kWindow, kWindowRtts * smoothed_rtt));
  return {.cwnd_bytes = std::max(static_cast<int64_t>(window_bytes), kMinWindowPackets * packet_bytes),
          .pacing_rate = rate};
}

}  // namespace ccgym
