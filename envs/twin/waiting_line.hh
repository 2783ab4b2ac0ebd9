// Packets on their way through a link, and those that wait in front of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "envs/twin/fifo.hh"
#include "envs/twin/packet_label.hh"

namespace ccgym {

// All fields have one size: packets are copied word by word right after they were written.
struct LinkPacket {
  uint64_t seq{};
  int64_t arrival_ns{};
  int64_t tag{};    // chosen by the driver, handed back with the packet
  int64_t bytes{};  // with the TUN header
  PacketLabel label{};
};

// The drop callback of a caller that does not count dropped packets.
struct IgnoreDropped {
  void operator()(const LinkPacket& /*packet*/) const {}
};

// The limits of the queue; 0 is no limit.
class QueueLimits {
 public:
  QueueLimits(int64_t most_packets, int64_t most_bytes)
      : most_packets_(limit_of(most_packets)), most_bytes_(limit_of(most_bytes)) {}

  [[nodiscard]] bool allow(int64_t packets, int64_t bytes) const {
    return packets <= most_packets_ && bytes <= most_bytes_;
  }

 private:
  static int64_t limit_of(int64_t limit) { return limit > 0 ? limit : std::numeric_limits<int64_t>::max(); }

  int64_t most_packets_;
  int64_t most_bytes_;
};

class WaitingLine {
 public:
  WaitingLine(int64_t most_packets, int64_t most_bytes) : limits_(most_packets, most_bytes) {}

  [[nodiscard]] bool empty() const { return packets_.empty(); }
  [[nodiscard]] std::size_t packets() const { return packets_.size(); }
  [[nodiscard]] int64_t bytes() const { return bytes_; }

  // The next one to leave.
  LinkPacket& front() { return packets_.front(); }

  [[nodiscard]] bool has_room_for(const LinkPacket& packet) const { return fits(1, packet.bytes); }
  [[nodiscard]] bool too_long() const { return !fits(0, 0); }

  void push(const LinkPacket& packet) {
    packets_.push(packet);
    bytes_ += packet.bytes;
  }
  // Written to a place of the caller's: a packet returned in registers would wait for its own stores.
  void pop(LinkPacket& packet) {
    packet = packets_.front();
    packets_.drop_front();
    bytes_ -= packet.bytes;
  }

 private:
  [[nodiscard]] bool fits(int64_t more_packets, int64_t more_bytes) const {
    return limits_.allow(static_cast<int64_t>(packets()) + more_packets, bytes_ + more_bytes);
  }

  Fifo<LinkPacket> packets_{};
  int64_t bytes_{0};
  QueueLimits limits_;
};

}  // namespace ccgym
