// Host jitter: at random times the sender's host stalls, and its flows neither send nor receive meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>

#include "envs/twin/timing.hh"
#include "transport/random.hh"
#include "transport/units.hh"

namespace ccgym {

class HostJitter {
 public:
  // A stall begins with `probability` per ms and lasts up to `max_ms`. `random` belongs to the owner.
  HostJitter(double probability, double max_ms, Random& random)
      : mean_gap_ms_(probability > 0 ? 1 / probability : 0), max_ms_(max_ms) {
    if (mean_gap_ms_ > 0) next_ = to_time(random.exponential(mean_gap_ms_));
  }

  // Whether the host stalls at `now`; draws the stalls until then.
  bool stalled(Time now, Random& random) {
    while (next_ <= now) {
      until_ = next_ + to_time(random.uniform() * max_ms_);
      next_ = until_ + to_time(random.exponential(mean_gap_ms_));
    }
    return now < until_;
  }

  [[nodiscard]] Time until() const { return until_; }  // the end of the last stall drawn

 private:
  static Time to_time(double ms) { return Time{static_cast<int64_t>(std::min(ms, kMaxMs) * 1e6)}; }

  double mean_gap_ms_;
  double max_ms_;
  Time next_{Time::max()};
  Time until_{};
};

}  // namespace ccgym
