// Feeds recorded arrivals to the twin's link, to compare its departures with those of the real mm-link.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "envs/twin/queues/queue_spec.hh"
#include "envs/twin/schedule.hh"

namespace ccgym {

struct Departures {
  // One entry for each departure, in their order.
  std::vector<int32_t> ms{};        // time of the departure
  std::vector<int32_t> bytes{};     // with the TUN header, as the log has them
  std::vector<int32_t> delay_ms{};  // since the arrival

  int64_t dropped_packets{};
  int64_t waiting_packets{};  // at the end, including the one in transmission
};

// All times are in ms of one clock. The link's schedule begins at `base_ms` (mm-link's base timestamp);
// departures are computed up to and including `end_ms`. Arrivals must not decrease. `seed`: of random drops
// by the queue.
Departures replay(std::shared_ptr<const Schedule> schedule, const QueueSpec& queue,
                  std::span<const int32_t> arrival_ms, std::span<const int32_t> arrival_bytes,
                  int64_t base_ms, int64_t end_ms, uint64_t seed = 0);

}  // namespace ccgym
