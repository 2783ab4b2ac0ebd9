#include "agents/controllers/fixed_rate.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kWindowSeconds = 10;  // of the rate: more than any path holds, so that pacing alone decides
constexpr int64_t kMinWindowPackets = 10;

}  // namespace

FixedRate::FixedRate(int64_t packet_bytes, double rate_mbps)
    : limits_{
          .cwnd_bytes = std::max(kMinWindowPackets * packet_bytes,
                                 static_cast<int64_t>(std::llround(rate_mbps * 1e6 / 8 * kWindowSeconds))),
          .pacing_rate = Rate::from_mbps(rate_mbps)} {}

}  // namespace ccgym
