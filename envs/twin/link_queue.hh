// The queue in front of a link: mahimahi's five kinds.
//
// An infinite queue is a droptail queue whose limits are never reached, so that the common kinds cost two
// comparisons a packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "envs/twin/codel.hh"
#include "envs/twin/pie.hh"
#include "envs/twin/queue_spec.hh"
#include "envs/twin/timing.hh"
#include "envs/twin/waiting_line.hh"

namespace ccgym {

class LinkQueue {
 public:
  // `seed` of what a queue drops by chance.
  LinkQueue(const QueueSpec& queue, Timing timing, uint64_t seed)
      : kind_(queue.kind),
        most_packets_(queue.packets > 0 ? queue.packets : std::numeric_limits<int64_t>::max()),
        most_bytes_(queue.bytes > 0 ? queue.bytes : std::numeric_limits<int64_t>::max()) {
    if (kind_ == QueueKind::codel) codel_.emplace(queue, timing);
    if (kind_ == QueueKind::pie) pie_.emplace(queue, seed);
  }

  [[nodiscard]] bool empty() const { return line_.empty(); }
  [[nodiscard]] std::size_t packets() const { return line_.packets(); }
  [[nodiscard]] int64_t bytes() const { return line_.bytes(); }

  // `drop(packet)` for each packet that does not stay, the arriving one or one that waited.
  template <class Drop>
  void enqueue(const LinkPacket& packet, Drop&& drop) {
    if (kind_ == QueueKind::drophead) {
      line_.push(packet);
      while (over_limit(0, 0)) drop_head(drop);
    } else if (kind_ == QueueKind::pie && pie_drops(packet)) {
      drop(packet);
    } else if (over_limit(1, packet.bytes)) {
      drop(packet);
    } else {
      line_.push(packet);
    }
  }

  // Puts the next packet to be sent, of a queue that is not empty, into `packet`; `drop` as above.
  template <class Drop>
  void dequeue(int64_t now_ns, LinkPacket& packet, Drop&& drop) {
    if (kind_ == QueueKind::codel) return codel_->dequeue(now_ns, line_, packet, drop);
    line_.pop(packet);
    if (kind_ == QueueKind::pie) {
      pie_->measure(now_ns / kNsPerMs, packet.bytes, line_.bytes());
      pie_->update(now_ns / kNsPerMs, line_.bytes());
    }
  }

 private:
  [[nodiscard]] bool over_limit(int64_t more_packets, int64_t more_bytes) const {
    return static_cast<int64_t>(line_.packets()) + more_packets > most_packets_ ||
           line_.bytes() + more_bytes > most_bytes_;
  }

  template <class Drop>
  void drop_head(Drop&& drop) {
    LinkPacket head;
    line_.pop(head);
    drop(head);
  }

  bool pie_drops(const LinkPacket& packet) {
    pie_->update(packet.arrival_ns / kNsPerMs, line_.bytes());
    return !over_limit(1, packet.bytes) && pie_->drops_early(line_.bytes());
  }

  WaitingLine line_{};
  QueueKind kind_;
  int64_t most_packets_;
  int64_t most_bytes_;
  std::optional<CoDel> codel_{};
  std::optional<Pie> pie_{};
};

}  // namespace ccgym
