// Round-trip-time filter and probe time-out (RFC 9002, sections 5.3 and 6.2.1).
#pragma once

#include <algorithm>
#include <chrono>

#include "transport/measurements.hh"

namespace ccgym {

class RttFilter {
 public:
  void add(Time sample) {
    stats_.latest = sample;
    if (stats_.smoothed == Time{}) {  // RFC 9002, section 5.3
      stats_ = {sample, sample, sample};
      variation_ = sample / 2;
    } else {
      stats_.min = std::min(stats_.min, sample);
      const Time error = sample - stats_.smoothed;  // weights 1/4 and 1/8
      variation_ += ((error < Time{} ? -error : error) - variation_) / 4;
      stats_.smoothed += error / 8;
    }
    probe_timeout_ = stats_.smoothed + std::max(4 * variation_, kGranularity);
  }

  [[nodiscard]] const RttStats& stats() const { return stats_; }
  [[nodiscard]] Time probe_timeout() const { return probe_timeout_; }

 private:
  static constexpr Time kInitialTimeout = std::chrono::seconds{1};    // RFC 6298 (2.1)
  static constexpr Time kGranularity = std::chrono::milliseconds{1};  // RFC 9002, kGranularity

  RttStats stats_{};
  Time variation_{};
  Time probe_timeout_{kInitialTimeout};
};

}  // namespace ccgym
