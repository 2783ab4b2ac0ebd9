#include "agents/controllers/fixed_rate.hh"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "agents/controllers/checked.hh"

namespace ccgym {

namespace {

constexpr double kWindowSeconds = 10;  // window / rate: longer than any RTT, so that only pacing limits
constexpr int64_t kMinWindowPackets = 10;

// One packet per second, the longest gap of the pacer.
double least_mbps(int64_t packet_bytes) {
  return Rate::of(static_cast<double>(packet_bytes), std::chrono::seconds{1}).mbps();
}

SendLimits limits_at(double rate_mbps, int64_t packet_bytes) {
  const int64_t window_bytes = std::llround(rate_mbps * 1e6 / 8 * kWindowSeconds);
  return {.cwnd_bytes = std::max(kMinWindowPackets * packet_bytes, window_bytes),
          .pacing_rate = Rate::from_mbps(rate_mbps)};
}

}  // namespace

FixedRate::FixedRate(int64_t packet_bytes, const Config& config)
    : limits_{limits_at(checked("rate: rate_mbps", config.rate_mbps, least_mbps(packet_bytes), 1e5),
                        packet_bytes)} {}

}  // namespace ccgym
