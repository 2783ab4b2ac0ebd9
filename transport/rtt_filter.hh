// Round-trip-time filter and retransmission time-out (RFC 6298).
#pragma once

#include <algorithm>
#include <chrono>

#include "transport/measurements.hh"

namespace ccgym {

class RttFilter {
 public:
  void add(Time sample) {
    stats_.latest = sample;
    if (stats_.smoothed == Time{}) {  // RFC 6298 (2.2)
      stats_ = {sample, sample, sample};
      variation_ = sample / 2;
      return;
    }
    stats_.min = std::min(stats_.min, sample);
    const Time error = sample - stats_.smoothed;  // RFC 6298 (2.3): beta 1/4, alpha 1/8
    variation_ += ((error < Time{} ? -error : error) - variation_) / 4;
    stats_.smoothed += error / 8;
  }

  [[nodiscard]] const RttStats& stats() const { return stats_; }
  [[nodiscard]] bool empty() const { return stats_.smoothed == Time{}; }

  [[nodiscard]] Time timeout() const {
    if (empty()) return kInitialTimeout;
    return stats_.smoothed + std::max(4 * variation_, kMinVariation);
  }

 private:
  static constexpr Time kInitialTimeout = std::chrono::seconds{1};       // RFC 6298 (2.1)
  static constexpr Time kMinVariation = std::chrono::milliseconds{200};  // Linux's floor, TCP_RTO_MIN

  RttStats stats_{};
  Time variation_{};
};

}  // namespace ccgym
