// Whole flows through the twin, each recorded as mm-link would log its share of the uplink.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "envs/twin/path.hh"

namespace ccgym {

// Times in ms since the path began, to the microsecond; bytes with the 4-byte TUN header; arrivals,
// departures and delays are the link's own.
struct FlowRecord {
  std::vector<double> arrival_ms{};
  std::vector<int32_t> arrival_bytes{};
  std::vector<double> departure_ms{};
  std::vector<int32_t> departure_bytes{};
  std::vector<double> departure_delay_ms{};
  std::vector<double> sent_ms{};           // of each arrival: when its sender let it go
  std::vector<double> departed_sent_ms{};  // of each departure the same
  std::vector<double> received_ms{};  // of each departure: at the other end of the path; NaN: lost on the way
  std::vector<double> cwnd_ms{};      // the window, sampled every 10 ms while the flow is in the air
  std::vector<double> cwnd_packets{};
  std::vector<std::string> metric_names{};  // that its controller publishes, and their units
  std::vector<std::string> metric_units{};
  std::vector<std::vector<double>> metric_values{};  // of each of them, sampled as the window
  std::vector<double> completion_ms{};               // of a flow of so many bytes, or of each of its answers
  int64_t opportunities{};                           // of the uplink, all flows together
  int64_t sent_packets{};
  int64_t delivered_packets{};
  int64_t lost_packets{};
  int64_t unrecorded_bytes{};  // that arrived when so much had been dropped that arrivals are counted only
  int64_t marked_packets{};    // "congestion experienced", as their ACKs told
};

enum class Log { packets, totals };  // totals: arrivals, departures and metrics stay empty

// One record for each flow of the path; `scheme` runs where a flow names none. Schemes as in
// make_controller; throws std::invalid_argument or std::runtime_error as it does, and as flows_of.
std::vector<FlowRecord> simulate(const PathSpec& path, std::string_view scheme, double seconds, uint64_t seed,
                                 Log log = Log::packets);

}  // namespace ccgym
