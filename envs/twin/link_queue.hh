// The queue in front of a link.
//
// An infinite queue is a droptail queue whose limits are never reached, so that the common kinds cost two
// comparisons per packet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "envs/twin/queues/queue_spec.hh"
#include "envs/twin/waiting_line.hh"
#include "transport/cloned.hh"

namespace ccgym {

class LinkQueue {
 public:
  // Throws as `checked`.
  LinkQueue(const QueueSpec& queue, const QueueSetting& setting)
      : line_(queue.packets, queue.bytes), discipline_(make_discipline(queue, setting)) {}

  [[nodiscard]] bool empty() const { return line_.empty(); }
  [[nodiscard]] std::size_t packets() const { return line_.packets(); }
  [[nodiscard]] int64_t bytes() const { return line_.bytes(); }

  // `drop(packet)` for each packet that does not stay, the arriving one or one that waited.
  template <class Drop>
  void enqueue(const LinkPacket& packet, Drop&& drop) {
    if (discipline_) {
      discipline_->enqueue(packet, line_, dropped_);
      report_dropped(drop);
    } else if (line_.has_room_for(packet)) {
      line_.push(packet);
    } else {
      drop(packet);
    }
  }

  // Puts the next packet to be sent, of a queue that is not empty, into `packet`; `drop` as above.
  template <class Drop>
  void dequeue(int64_t now_ns, LinkPacket& packet, Drop&& drop) {
    if (!discipline_) return line_.pop(packet);
    discipline_->dequeue(now_ns, line_, packet, dropped_);
    report_dropped(drop);
  }

 private:
  template <class Drop>
  void report_dropped(Drop&& drop) {
    for (const LinkPacket& packet : dropped_) drop(packet);
    dropped_.clear();
  }

  WaitingLine line_;
  Cloned<QueueDiscipline> discipline_;  // none: packets only wait
  DroppedPackets dropped_{};
};

}  // namespace ccgym
