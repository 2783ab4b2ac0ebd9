// One flow over one emulated path in virtual time, measured after its start-up as a paper would.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "envs/twin/packet_sizes.hh"
#include "envs/twin/simulate.hh"

namespace ccgym {

struct Scenario {
  double rate_mbps{12};
  double delay_ms{30};       // one way, each direction
  int64_t queue_packets{0};  // 0: no limit
  double loss{0};
  double seconds{20};
  double start_up_seconds{5};
};

struct Measured {
  double mbps{};  // IP bytes over the bottleneck
  double p95_delay_ms{};
  double lost_share{};
};

inline Measured run_scenario(std::string_view scheme, const Scenario& scenario) {
  const auto schedule = Schedule::constant(scenario.rate_mbps);
  const QueueSpec queue = scenario.queue_packets == 0
                              ? QueueSpec{}
                              : QueueSpec{.kind = "droptail", .packets = scenario.queue_packets};
  const PathSpec path{.delay_ms = scenario.delay_ms,
                      .uplink = {.schedule = schedule, .queue = queue, .loss = scenario.loss},
                      .downlink = {.schedule = schedule}};
  const FlowRecord record = simulate(path, scheme, scenario.seconds, /*seed=*/1).front();
  std::vector<double> delays_ms;
  double bits = 0;
  for (std::size_t i = 0; i < record.departure_ms.size(); ++i) {
    if (record.departure_ms[i] < 1000 * scenario.start_up_seconds) continue;
    delays_ms.push_back(record.departure_delay_ms[i]);
    bits += 8.0 * static_cast<double>(record.departure_bytes[i] - kTunHeaderBytes);
  }
  if (delays_ms.empty()) return {};
  const auto p95 = delays_ms.begin() + static_cast<std::ptrdiff_t>(delays_ms.size() * 95 / 100);
  std::ranges::nth_element(delays_ms, p95);
  return {.mbps = bits / 1e6 / (scenario.seconds - scenario.start_up_seconds),
          .p95_delay_ms = scenario.delay_ms + *p95,
          .lost_share = static_cast<double>(record.lost_packets) / static_cast<double>(record.sent_packets)};
}

}  // namespace ccgym
