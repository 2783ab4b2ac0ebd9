// What was in flight, and had been lost, when a packet left: a loss is judged by the flight it was sent in.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "transport/congestion_controller.hh"

namespace ccgym {

struct SentRecord {
  uint64_t seq{};
  int64_t inflight_bytes{};  // with the packet
  int64_t lost_bytes{};      // flow total
};

class SentRecords {
 public:
  void add(const SentRecord& record, int64_t packet_bytes) {
    const auto flight_packets = static_cast<std::size_t>(record.inflight_bytes / packet_bytes);
    if (kSpare * flight_packets > ring_.size()) grow(record.seq);
    ring_[record.seq % ring_.size()] = record;
  }

  // Absent: the packet left too long ago.
  [[nodiscard]] std::optional<SentRecord> find(uint64_t seq) const {
    if (ring_.empty() || ring_[seq % ring_.size()].seq != seq) return std::nullopt;
    return ring_[seq % ring_.size()];
  }

 private:
  static constexpr std::size_t kSpare = 4;  // flights: a lost packet stays remembered for some round trips
  static constexpr std::size_t kSmallest = 64;

  void grow(uint64_t next_seq) {
    const std::vector<SentRecord> old = std::move(ring_);
    ring_.assign(std::max(2 * old.size(), kSmallest),
                 {.seq = UINT64_MAX, .inflight_bytes = 0, .lost_bytes = 0});
    for (const SentRecord& record : old) {
      if (record.seq < next_seq) ring_[record.seq % ring_.size()] = record;
    }
  }

  std::vector<SentRecord> ring_{};
};

}  // namespace ccgym
