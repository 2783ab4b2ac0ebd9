// The sender's records of its packets: a ring, indexed by sequence number, that grows with the window.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "transport/rate_sampler.hh"

namespace ccgym {

enum class PacketState : uint8_t { in_flight, delivered, lost, timed_out };

struct PacketRecord {
  Time sent_at{};
  [[no_unique_address]] RateMark rate_mark{};  // the next two members fit into its padding
  PacketState state{PacketState::in_flight};
  uint32_t inflight_packets{};  // when it left, including it
  int64_t lost_packets{};       // total of the flow when it left
};
static_assert(sizeof(PacketRecord) == 48);  // memory traffic limits the speed with a large window

class PacketRing {
 public:
  [[nodiscard]] uint64_t next_seq() const { return next_seq_; }

  // Whether the record of `seq` still exists: those of older packets are overwritten.
  [[nodiscard]] bool holds(uint64_t seq) const {
    return seq >= oldest_known_ && seq < next_seq_ && next_seq_ - seq <= mask_ + 1;
  }
  PacketRecord& operator[](uint64_t seq) { return records_[seq & mask_]; }
  const PacketRecord& operator[](uint64_t seq) const { return records_[seq & mask_]; }

  // Adds the next packet and returns its record, which still holds the values of an older packet. All records
  // from `oldest_needed` on are kept.
  PacketRecord& push(uint64_t oldest_needed) {
    if (next_seq_ - oldest_needed > mask_) grow();
    return (*this)[next_seq_++];
  }

 private:
  static constexpr std::size_t kInitialCapacity = 64;

  [[gnu::noinline]] void grow() {
    std::vector<PacketRecord> larger(2 * records_.size());
    oldest_known_ = next_seq_ < records_.size() ? 0 : next_seq_ - records_.size();
    for (uint64_t seq = oldest_known_; seq < next_seq_; ++seq)
      larger[seq & (larger.size() - 1)] = (*this)[seq];
    records_ = std::move(larger);
    mask_ = records_.size() - 1;
  }

  std::vector<PacketRecord> records_{std::vector<PacketRecord>(kInitialCapacity)};
  uint64_t mask_{kInitialCapacity - 1};
  uint64_t next_seq_{0};
  uint64_t oldest_known_{0};  // records before it were overwritten before the ring grew
};

}  // namespace ccgym
