// One direction of mm-link in virtual time: a queue, and the opportunities that drain it.
//
// Order inside a millisecond, as in the real program: first all of its opportunities, then arrivals.
// The driver uses every opportunity of a busy link up to a millisecond before it pushes at that one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "envs/twin/fifo.hh"
#include "envs/twin/path.hh"

namespace ccgym {

struct LinkPacket {
  uint64_t seq{};
  int64_t arrival_ms{};
  int64_t tag{};    // what the driver wants back with the packet
  int32_t bytes{};  // with the TUN header
  uint16_t flow{};
};

class TwinLink {
 public:
  TwinLink(std::shared_ptr<const Schedule> schedule, const QueueSpec& queue)
      : cursor_(std::move(schedule)), limits_(queue) {}

  // False: the queue is full and the packet is gone.
  bool push(const LinkPacket& packet) {
    if (!busy()) cursor_.skip_through(packet.arrival_ms);
    if (!admits(packet)) return false;
    queue_.push(packet);
    queued_bytes_ += packet.bytes;
    return true;
  }

  [[nodiscard]] bool busy() const { return left_bytes_ > 0 || !queue_.empty(); }
  [[nodiscard]] int64_t next_ms() const { return cursor_.next_ms(); }
  [[nodiscard]] std::size_t queued_packets() const { return queue_.size(); }

  // Spends one opportunity; `deliver(packet, ms)` for each packet whose last byte it carries.
  template <class Deliver>
  void use_opportunity(Deliver&& deliver) {
    const int64_t now_ms = cursor_.next_ms();
    cursor_.advance();
    for (int64_t budget = kOpportunityBytes; budget > 0;) {
      if (left_bytes_ == 0 && !start_transmission()) return;
      const int64_t sent = std::min(budget, left_bytes_);
      left_bytes_ -= sent;
      budget -= sent;
      if (left_bytes_ == 0) deliver(in_transmission_, now_ms);
    }
  }

 private:
  [[nodiscard]] bool admits(const LinkPacket& packet) const {
    if (limits_.kind == QueueKind::infinite) return true;
    if (limits_.packets > 0 && static_cast<int64_t>(queue_.size()) + 1 > limits_.packets) return false;
    return limits_.bytes == 0 || queued_bytes_ + packet.bytes <= limits_.bytes;
  }

  bool start_transmission() {
    if (queue_.empty()) return false;
    in_transmission_ = queue_.pop();
    left_bytes_ = in_transmission_.bytes;
    queued_bytes_ -= in_transmission_.bytes;
    return true;
  }

  OpportunityCursor cursor_;
  QueueSpec limits_;
  Fifo<LinkPacket> queue_{};
  int64_t queued_bytes_{0};
  LinkPacket in_transmission_{};
  int64_t left_bytes_{0};
};

}  // namespace ccgym
