// ACKs on their way back to the downlink. Flows of the same delay share a lane, which is first in,
// first out; between lanes the earliest ACK comes first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "envs/twin/fifo.hh"
#include "envs/twin/tournament.hh"

namespace ccgym {

struct AckInFlight {
  int64_t arrival_ms{};  // at the downlink
  int64_t received_ms{};
  uint64_t seq{};
  uint16_t flow{};
};

class AckLanes {
 public:
  explicit AckLanes(std::size_t lanes) : lanes_(lanes), arrivals_ms_(lanes) {}

  [[nodiscard]] int64_t next_ms() const { return arrivals_ms_.earliest(); }

  void push(std::size_t lane, const AckInFlight& ack) {
    if (lanes_[lane].empty()) arrivals_ms_.set(lane, ack.arrival_ms);
    lanes_[lane].push(ack);
  }

  AckInFlight pop() {
    const std::size_t lane = arrivals_ms_.winner();
    Fifo<AckInFlight>& acks = lanes_[lane];
    const AckInFlight ack = acks.pop();
    arrivals_ms_.set(lane, acks.empty() ? Tournament::kNever : acks.front().arrival_ms);
    return ack;
  }

 private:
  std::vector<Fifo<AckInFlight>> lanes_;
  Tournament arrivals_ms_;
};

}  // namespace ccgym
