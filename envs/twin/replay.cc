#include "envs/twin/replay.hh"

#include <stdexcept>
#include <utility>

#include "envs/twin/link.hh"

namespace ccgym {

Departures replay(std::shared_ptr<const Schedule> schedule, const QueueSpec& queue,
                  std::span<const int32_t> arrival_ms, std::span<const int32_t> arrival_bytes,
                  int64_t base_ms, int64_t end_ms, uint64_t seed) {
  if (arrival_ms.size() != arrival_bytes.size()) throw std::invalid_argument("arrivals need one size each");
  TwinLink link{std::move(schedule), queue, Timing::mahimahi, seed};
  Departures departures;
  const auto deliver = [&](const LinkPacket& packet, int64_t now_ns) {
    departures.ms.push_back(static_cast<int32_t>(now_ns / kNsPerMs + base_ms));
    departures.bytes.push_back(static_cast<int32_t>(packet.bytes));
    departures.delay_ms.push_back(static_cast<int32_t>((now_ns - packet.arrival_ns) / kNsPerMs));
  };
  const auto drop = [&](const LinkPacket& /*packet*/) { ++departures.dropped_packets; };
  const auto run_through = [&](int64_t ms) {
    while (link.busy() && link.next_ns() <= (ms - base_ms) * kNsPerMs) link.use_opportunity(deliver, drop);
  };
  for (std::size_t i = 0; i < arrival_ms.size(); ++i) {
    run_through(arrival_ms[i]);
    link.push({i, (arrival_ms[i] - base_ms) * kNsPerMs, 0, arrival_bytes[i], 0}, drop);
  }
  run_through(end_ms);
  departures.waiting_packets = static_cast<int64_t>(link.queued_packets()) + (link.transmitting() ? 1 : 0);
  return departures;
}

}  // namespace ccgym
