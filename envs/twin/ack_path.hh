// The path of ACKs from the receivers through the downlink to the senders.
//
// If all flows have the same delay, the downlink's queue has no limit and nothing is lost behind the link,
// then the arrival time of an ACK follows from its departure, and is computed at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "envs/twin/ack_lanes.hh"
#include "envs/twin/direction.hh"
#include "envs/twin/fifo.hh"
#include "envs/twin/packet_sizes.hh"
#include "envs/twin/path.hh"
#include "envs/twin/unlimited_link.hh"
#include "transport/random.hh"

namespace ccgym {

class AckPath {
 public:
  AckPath(const PathSpec& path, std::size_t lanes, uint64_t seed)
      : downlink_(path, Way::down, seed), lanes_(lanes) {
    const LinkSpec& link = path.downlink;
    if (lanes == 1 && link.queue.kind == "infinite" && !downlink_.draws_behind())
      unlimited_link_.emplace(link.schedule, path.timing);
  }

  // Whether `send` draws random numbers.
  [[nodiscard]] bool draws() const { return downlink_.draws_before(); }

  // The time of the next event on this path.
  [[nodiscard]] int64_t next_ns() const {
    const int64_t returned_ns = returned_.empty() ? kNeverNs : returned_.front().arrival_ns;
    return unlimited_link_ ? returned_ns
                           : std::min({returned_ns, downlink_.link.next_ns(), lanes_.next_ns()});
  }

  // An ACK leaves its receiver at `ack.received_ns`; its flow has `extra_delay_ns` each way on top of the
  // path's delay.
  void send(std::size_t lane, AckInFlight ack, int64_t extra_delay_ns, Random& random) {
    const int64_t reached_ns = downlink_.reach_link(downlink_.clock(ack.received_ns), random);
    if (reached_ns == kNeverNs) return;
    ack.arrival_ns = reached_ns + 2 * extra_delay_ns;
    ack.received_ns += extra_delay_ns;
    if (!unlimited_link_) return lanes_.push(lane, ack);
    const int64_t left_ns = unlimited_link_->transmit(ack.arrival_ns, kAckTunBytes).end_ns;
    if (left_ns == kNeverNs) return;
    ack.arrival_ns = downlink_.reach_end(left_ns, random);
    if (ack.arrival_ns != kNeverNs) returned_.push(ack);
  }

  // All events at `ns`, which is at most `next_ns()`: calls `take(ack)` for each ACK that reaches its sender.
  template <class Take>
  void run(int64_t ns, Random& random, Take&& take) {
    if (!unlimited_link_) run_downlink(ns, random, take);
    while (!returned_.empty() && returned_.front().arrival_ns == ns) take(returned_.pop());
  }

 private:
  template <class Take>
  void run_downlink(int64_t ns, Random& random, Take& take) {
    while (downlink_.link.next_ns() == ns) {
      downlink_.link.use_opportunity(
          [&](const LinkPacket& packet, int64_t) { leave_downlink(packet, ns, random, take); },
          IgnoreDropped{});
    }
    while (lanes_.next_ns() == ns) enter_downlink(lanes_.pop());
  }

  void enter_downlink(const AckInFlight& ack) {
    downlink_.link.push({ack.seq, ack.arrival_ns, ack.received_ns, kAckTunBytes, ack.label}, IgnoreDropped{});
  }

  template <class Take>
  void leave_downlink(const LinkPacket& packet, int64_t ns, Random& random, Take& take) {
    const int64_t returned_ns = downlink_.reach_end(ns, random);
    if (returned_ns == kNeverNs) return;
    const AckInFlight ack{returned_ns, packet.tag, packet.seq, packet.label};
    if (returned_ns > ns) return returned_.push(ack);
    take(ack);
  }

  Direction downlink_;
  AckLanes lanes_;                                 // in the delays before the downlink
  Fifo<AckInFlight> returned_{};                   // with known times of arrival at their senders
  std::optional<UnlimitedLink> unlimited_link_{};  // if present, used instead of the downlink's own link
};

}  // namespace ccgym
