#include "agents/controllers/outside_limits.hh"

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ccgym {

namespace {

constexpr double kMaxPackets = 1e9;
constexpr double kMinMbps = 1e-6;
constexpr double kMaxMbps = 1e9;
constexpr double kMaxMs = 1e12;

double checked(std::string_view controller, const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return value;  // refuses NaN as well
  std::ostringstream problem;
  problem << controller << ": " << name << " is " << value << ", expected a number from " << least << " to "
          << most;
  throw std::runtime_error(problem.str());
}

}  // namespace

int64_t checked_window_bytes(std::string_view controller, double cwnd_packets, int64_t packet_bytes) {
  const double packets = checked(controller, "cwnd_packets", cwnd_packets, 0, kMaxPackets);
  return std::llround(packets * static_cast<double>(packet_bytes));
}

Rate checked_pacing(std::string_view controller, double pacing_mbps) {
  return Rate::from_mbps(checked(controller, "pacing_mbps", pacing_mbps, kMinMbps, kMaxMbps));
}

Time checked_timer(std::string_view controller, double next_timer_ms) {
  return Time{std::llround(1e6 * checked(controller, "next_timer_ms", next_timer_ms, 0, kMaxMs))};
}

void check_timer_moved(std::string_view controller, std::optional<Time> next_timer, Time now) {
  if (next_timer && *next_timer <= now)
    throw std::runtime_error(std::string{controller} +
                             ": on_timer leaves next_timer_ms in the past; set a later time or none");
}

}  // namespace ccgym
