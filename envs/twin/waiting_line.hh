// Packets on their way through a link, and those that wait in front of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "envs/twin/fifo.hh"

namespace ccgym {

// All fields of one size: packets are copied word by word, right after they have been written.
struct LinkPacket {
  uint64_t seq{};
  int64_t arrival_ns{};
  int64_t tag{};    // what the driver wants back with the packet
  int64_t bytes{};  // with the TUN header
  uint64_t flow{};
};

class WaitingLine {
 public:
  [[nodiscard]] bool empty() const { return packets_.empty(); }
  [[nodiscard]] std::size_t packets() const { return packets_.size(); }
  [[nodiscard]] int64_t bytes() const { return bytes_; }

  void push(const LinkPacket& packet) {
    packets_.push(packet);
    bytes_ += packet.bytes;
  }
  // Into a place of the caller's: a packet on its way through registers would stall for its own stores.
  void pop(LinkPacket& packet) {
    packet = packets_.front();
    packets_.drop_front();
    bytes_ -= packet.bytes;
  }

 private:
  Fifo<LinkPacket> packets_{};
  int64_t bytes_{0};
};

}  // namespace ccgym
