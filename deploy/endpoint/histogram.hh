// Quantiles of any number of durations in constant memory: logarithmic buckets with a relative width of up
// to 1.6 %.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "transport/units.hh"

namespace ccgym {

class DurationHistogram {
 public:
  void add(Time duration) {
    const auto ns = static_cast<uint64_t>(std::max(duration, Time::zero()).count());
    ++counts_[bucket_of(ns)];
    ++total_;
  }

  [[nodiscard]] uint64_t count() const { return total_; }

  // The quantile by nearest rank, to the middle of its bucket; zero if nothing was added. `share` in (0, 1].
  [[nodiscard]] Time quantile(double share) const {
    const auto rank = static_cast<uint64_t>(std::ceil(share * static_cast<double>(total_)));
    uint64_t below = 0;
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      below += counts_[bucket];
      if (below > 0 && below >= rank) return middle_of(bucket);
    }
    return Time::zero();
  }

 private:
  static constexpr int kStepBits = 6;  // 64 buckets per power of two
  static constexpr uint64_t kSteps = uint64_t{1} << kStepBits;

  static std::size_t bucket_of(uint64_t ns) {
    if (ns < kSteps) return ns;
    const int shift = std::bit_width(ns) - kStepBits - 1;
    return static_cast<std::size_t>(shift) * kSteps + (ns >> shift);
  }

  static Time middle_of(std::size_t bucket) {
    if (bucket < 2 * kSteps) return Time{static_cast<int64_t>(bucket)};
    const std::size_t shift = bucket / kSteps - 1;
    const uint64_t low = (bucket % kSteps + kSteps) << shift;
    return Time{static_cast<int64_t>(low + (uint64_t{1} << shift) / 2)};
  }

  std::vector<uint64_t> counts_ = std::vector<uint64_t>(64 * kSteps);
  uint64_t total_{0};
};

}  // namespace ccgym
