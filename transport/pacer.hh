// Spaces packets in time at a rate, forgiving a driver that wakes up late.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "transport/units.hh"

namespace ccgym {

class Pacer {
 public:
  [[nodiscard]] Time next_release(Time now) const { return std::max(now, release_); }

  // A closed window is no late driver: waiting for it earns no burst.
  void on_window_opened(Time now) { release_ = std::max(release_, now); }

  void on_sent(Time now, int64_t bytes, std::optional<Rate> rate) {
    if (!rate) {
      release_ = Time{};
      return;
    }
    const double gap_ns = std::min(rate->ns_for(bytes), kMaxGapNs);
    release_ = std::max(release_, now - kMaxCredit) + Time{static_cast<int64_t>(gap_ns)};
  }

 private:
  static constexpr Time kMaxCredit = std::chrono::milliseconds{1};  // what a late wake-up may send in a burst
  static constexpr double kMaxGapNs = 1e9;  // a rate near zero still sends a packet a second

  Time release_{};
};

}  // namespace ccgym
