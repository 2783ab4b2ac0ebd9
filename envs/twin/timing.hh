// The clock of an emulated network.
#pragma once

#include <cstdint>
#include <limits>

namespace ccgym {

inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerUs = 1'000;
inline constexpr int64_t kNeverNs = std::numeric_limits<int64_t>::max();
inline constexpr double kMaxMs = 1e12;  // 30 years: in ns, sums of a few such times fit into 64 bits

enum class Timing {
  mahimahi,    // whole milliseconds, as the real program counts them
  continuous,  // exact times
};

// What the network's clock shows at `ns`, which is not negative: the division to whole ms costs half as much
// unsigned.
inline int64_t clock_ns(Timing timing, int64_t ns) {
  constexpr auto kUnsignedNsPerMs = static_cast<uint64_t>(kNsPerMs);
  if (timing == Timing::continuous) return ns;
  return static_cast<int64_t>(static_cast<uint64_t>(ns) / kUnsignedNsPerMs * kUnsignedNsPerMs);
}

}  // namespace ccgym
