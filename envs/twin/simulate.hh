// Runs whole flows through the twin; each is recorded as mm-link would log its share of the uplink.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "envs/twin/path.hh"

namespace ccgym {

// Times in ms since the path began, to the microsecond; bytes with the 4-byte TUN header; arrivals,
// departures and delays are those at the uplink.
struct FlowRecord {
  std::vector<double> arrival_ms{};
  std::vector<int32_t> arrival_bytes{};
  std::vector<double> departure_ms{};
  std::vector<int32_t> departure_bytes{};
  std::vector<double> departure_delay_ms{};
  std::vector<double> sent_ms{};           // of each arrival: when its sender sent it
  std::vector<double> departed_sent_ms{};  // of each departure: when its sender sent it
  std::vector<double> received_ms{};       // of each departure: arrival at the receiver; NaN: lost on the way
  std::vector<double> cwnd_ms{};           // the window, sampled every 10 ms while the flow runs
  std::vector<double> cwnd_packets{};
  std::vector<std::string> metric_names{};  // of the metrics that its controller publishes
  std::vector<std::string> metric_units{};
  std::vector<std::vector<double>> metric_values{};  // of each metric, sampled as the window
  std::vector<double> completion_ms{};               // of a flow of limited size, or of each of its answers
  int64_t opportunities{};                           // of the uplink, all flows together
  int64_t sent_packets{};
  int64_t delivered_packets{};
  int64_t lost_packets{};
  // Of arrivals that are only counted, because too many had been dropped to record them all.
  int64_t unrecorded_bytes{};
  int64_t marked_packets{};  // "congestion experienced", as reported by ACKs
};

enum class Log { packets, totals };  // totals: arrivals, departures and metrics stay empty

// One record for each flow of the path; `scheme` is for flows that name none. Schemes as in make_controller;
// throws std::invalid_argument or std::runtime_error as it does, and as flows_of.
std::vector<FlowRecord> simulate(const PathSpec& path, std::string_view scheme, double seconds, uint64_t seed,
                                 Log log = Log::packets);

}  // namespace ccgym
