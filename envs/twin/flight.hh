// One whole flow through the twin, recorded as mm-link would log its uplink.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "envs/twin/path.hh"

namespace ccgym {

// Times in ms since the flow began; bytes with the 4-byte TUN header; delays within the link only.
struct Flight {
  std::vector<int32_t> arrival_ms{};
  std::vector<int32_t> arrival_bytes{};
  std::vector<int32_t> departure_ms{};
  std::vector<int32_t> departure_bytes{};
  std::vector<int32_t> departure_delay_ms{};
  std::vector<double> cwnd_ms{};  // the window, sampled every 10 ms
  std::vector<double> cwnd_packets{};
  int64_t opportunities{};
  int64_t sent_packets{};
  int64_t delivered_packets{};
  int64_t lost_packets{};
};

// `scheme` as in make_controller; throws std::invalid_argument or std::runtime_error as it does.
Flight fly(const PathSpec& path, std::string_view scheme, double seconds, uint64_t seed);

}  // namespace ccgym
