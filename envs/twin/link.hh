// One direction of mm-link in virtual time: a queue, and the delivery opportunities that drain it.
//
// Order inside a millisecond, as in the real program: first all of the link's opportunities, then arrivals.
// The driver has to use every opportunity of a busy link up to an instant before it pushes at that instant.
//
// In continuous timing a link of constant rate has no opportunities: serving a packet takes its IP bytes /
// rate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "envs/twin/link_queue.hh"
#include "envs/twin/opportunity_cursor.hh"
#include "envs/twin/packet_sizes.hh"
#include "envs/twin/schedule.hh"
#include "envs/twin/timing.hh"
#include "transport/units.hh"

namespace ccgym {

class TwinLink {
 public:
  TwinLink(std::shared_ptr<const Schedule> schedule, const QueueSpec& queue, Timing timing = Timing::mahimahi,
           uint64_t seed = 0)
      : serves_continuously_(timing == Timing::continuous && schedule->is_constant()),
        ns_per_byte_(Rate::from_mbps(schedule->mean_rate_mbps()).ns_for(1)),
        cursor_(std::move(schedule)),
        queue_(queue, {timing, seed, std::llround(ns_per_byte_ * static_cast<double>(kMtuBytes))}) {}

  // `drop(packet)` for each packet that the queue discards, the arriving one or one that waited.
  template <class Drop>
  void push(const LinkPacket& packet, Drop&& drop) {
    const bool was_idle = !busy();
    if (was_idle && !serves_continuously_) cursor_.skip_through(packet.arrival_ns);
    queue_.enqueue(packet, drop);
    if (was_idle && serves_continuously_) begin_service(packet.arrival_ns, drop);
    update_next();
  }

  [[nodiscard]] bool busy() const { return left_bytes_ > 0 || !queue_.empty(); }
  // When the next event is; kNeverNs: the link is idle, or its trace has ended and does not repeat.
  [[nodiscard]] int64_t next_ns() const { return next_ns_; }
  [[nodiscard]] std::size_t queued_packets() const { return queue_.packets(); }
  [[nodiscard]] int64_t queued_bytes() const { return queue_.bytes(); }
  [[nodiscard]] bool transmitting() const { return left_bytes_ > 0; }

  // The event at `next_ns()`: calls `deliver(packet, ns)` for each packet whose last byte leaves,
  // `drop(packet)` for each that the queue discards meanwhile.
  template <class Deliver, class Drop>
  void use_opportunity(Deliver&& deliver, Drop&& drop) {
    if (serves_continuously_) {
      end_service(deliver, drop);
    } else {
      spend_opportunity(deliver, drop);
    }
    update_next();
  }

 private:
  void update_next() {
    next_ns_ = !busy() ? kNeverNs : serves_continuously_ ? served_ns_ : cursor_.next_ns();
  }

  template <class Deliver, class Drop>
  void spend_opportunity(Deliver&& deliver, Drop&& drop) {
    const int64_t now_ns = cursor_.next_ns();
    cursor_.advance();
    for (int64_t budget = kOpportunityBytes; budget > 0;) {
      if (left_bytes_ == 0 && !start_transmission(now_ns, drop)) return;
      const int64_t sent = std::min(budget, left_bytes_);
      left_bytes_ -= sent;
      budget -= sent;
      if (left_bytes_ == 0) deliver(in_transmission_, now_ns);
    }
  }

  template <class Drop>
  bool start_transmission(int64_t now_ns, Drop&& drop) {
    if (queue_.empty()) return false;
    queue_.dequeue(now_ns, in_transmission_, drop);
    left_bytes_ = in_transmission_.bytes;
    return true;
  }

  template <class Drop>
  void begin_service(int64_t now_ns, Drop&& drop) {
    if (!start_transmission(now_ns, drop)) return;
    const auto ip_bytes = static_cast<double>(left_bytes_ - kTunHeaderBytes);
    served_ns_ = now_ns + std::llround(ip_bytes * ns_per_byte_);
  }

  template <class Deliver, class Drop>
  void end_service(Deliver&& deliver, Drop&& drop) {
    const int64_t now_ns = served_ns_;
    const LinkPacket served = in_transmission_;
    left_bytes_ = 0;
    begin_service(now_ns, drop);
    deliver(served, now_ns);
  }

  bool serves_continuously_;
  double ns_per_byte_;
  OpportunityCursor cursor_;
  LinkQueue queue_;
  LinkPacket in_transmission_{};
  int64_t left_bytes_{0};
  int64_t served_ns_{0};
  int64_t next_ns_{kNeverNs};
};

}  // namespace ccgym
