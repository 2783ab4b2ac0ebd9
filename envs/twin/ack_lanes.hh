// ACKs on their way back to the downlink. Flows of the same delay share a lane, which is a FIFO; between
// lanes the earliest ACK comes first.
#pragma once

#include <cstdint>
#include <vector>

#include "envs/twin/fifo.hh"
#include "envs/twin/packet_label.hh"
#include "envs/twin/tournament.hh"

namespace ccgym {

struct AckInFlight {
  int64_t arrival_ns{};  // at the downlink, or at the sender
  int64_t received_ns{};
  uint64_t seq{};
  PacketLabel label{};
};

class AckLanes {
 public:
  explicit AckLanes(std::size_t lanes) : lanes_(lanes), arrivals_ns_(lanes) {}

  [[nodiscard]] int64_t next_ns() const { return arrivals_ns_.earliest(); }

  void push(std::size_t lane, const AckInFlight& ack) {
    if (lanes_[lane].empty()) arrivals_ns_.set(lane, ack.arrival_ns);
    lanes_[lane].push(ack);
  }

  AckInFlight pop() {
    const std::size_t lane = arrivals_ns_.winner();
    Fifo<AckInFlight>& acks = lanes_[lane];
    const AckInFlight ack = acks.pop();
    arrivals_ns_.set(lane, acks.empty() ? Tournament::kNever : acks.front().arrival_ns);
    return ack;
  }

 private:
  std::vector<Fifo<AckInFlight>> lanes_;
  Tournament arrivals_ns_;
};

}  // namespace ccgym
