// The clock of an emulated network.
#pragma once

#include <cstdint>
#include <limits>

namespace ccgym {

inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerUs = 1'000;
inline constexpr int64_t kNeverNs = std::numeric_limits<int64_t>::max();

enum class Timing {
  mahimahi,    // whole milliseconds, as the real program counts them
  continuous,  // exact times
};

// What the network's clock shows at `ns`.
inline int64_t clock_ns(Timing timing, int64_t ns) {
  return timing == Timing::mahimahi ? ns / kNsPerMs * kNsPerMs : ns;
}

}  // namespace ccgym
