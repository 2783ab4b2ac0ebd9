// A link behind mahimahi's droptail queue, or behind one without limit. Whether a packet stays and when it
// leaves is known as soon as it arrives, so it is computed at once.
//
// Drops and departures are the same as a TwinLink's, which takes packets as they leave, since other
// disciplines decide then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "envs/twin/fifo.hh"
#include "envs/twin/queues/queue_spec.hh"
#include "envs/twin/unlimited_link.hh"
#include "envs/twin/waiting_line.hh"

namespace ccgym {

class DroptailLink {
 public:
  static bool serves(const QueueSpec& queue) { return queue.kind == "droptail" || queue.kind == "infinite"; }

  DroptailLink(std::shared_ptr<const Schedule> schedule, const QueueSpec& queue, Timing timing)
      : limits_(queue.packets, queue.bytes), link_(std::move(schedule), timing) {}

  // When the last byte of this packet leaves the link; kNeverNs: the packet is dropped, or a trace that does
  // not repeat has ended. Arrivals must not decrease; `bytes` with the TUN header.
  int64_t push(int64_t arrival_ns, int64_t bytes) {
    pass_to(arrival_ns);
    if (!limits_.allow(static_cast<int64_t>(waiting_.size()) + 1, waiting_bytes_ + bytes)) return kNeverNs;
    const Transmission transmission = link_.transmit(arrival_ns, bytes);
    waiting_.push({transmission.begin_ns, bytes});
    waiting_bytes_ += bytes;
    return transmission.end_ns;
  }

  std::size_t queued_packets(int64_t now_ns) {
    pass_to(now_ns);
    return waiting_.size();
  }

 private:
  struct Waiting {
    int64_t until_ns{};
    int64_t bytes{};
  };

  // At equal times departures come before arrivals.
  void pass_to(int64_t now_ns) {
    for (; !waiting_.empty() && waiting_.front().until_ns <= now_ns; waiting_.drop_front())
      waiting_bytes_ -= waiting_.front().bytes;
  }

  QueueLimits limits_;
  UnlimitedLink link_;
  Fifo<Waiting> waiting_{};
  int64_t waiting_bytes_{0};
};

}  // namespace ccgym
