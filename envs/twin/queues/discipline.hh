// The contract of a queue in front of a link: what it does otherwise than to keep packets in order and to
// drop those that find no room (mahimahi's droptail, which needs no discipline).
//
// One file pair for each. Its class has, beside the contract,
//   - kName, as specs call it;
//   - Parameters, typed and with units in their names, and kParameters, which says what specs may give;
//   - a constructor from Parameters and QueueSetting;
// and a line in queue_table.cc, from which all else is derived: names, checks, messages, the binding.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "envs/twin/timing.hh"
#include "envs/twin/waiting_line.hh"

namespace ccgym {

struct QueueSetting {
  Timing timing{Timing::mahimahi};
  uint64_t seed{0};          // of what is decided by chance
  int64_t ns_per_packet{1};  // a full one, at the link's mean rate
};

using DroppedPackets = std::vector<LinkPacket>;

class QueueDiscipline {
 public:
  QueueDiscipline() = default;
  QueueDiscipline(const QueueDiscipline&) = default;
  QueueDiscipline& operator=(const QueueDiscipline&) = default;
  virtual ~QueueDiscipline() = default;

  // A packet comes: it joins the line, marked perhaps, or the dropped.
  virtual void enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) {
    if (line.has_room_for(packet)) {
      line.push(packet);
    } else {
      dropped.push_back(packet);
    }
  }
  // Puts the next packet to be sent, of a line that is not empty, into `packet`.
  virtual void dequeue(int64_t /*now_ns*/, WaitingLine& line, LinkPacket& packet,
                       DroppedPackets& /*dropped*/) {
    line.pop(packet);
  }
  [[nodiscard]] virtual std::unique_ptr<QueueDiscipline> clone() const = 0;
};

}  // namespace ccgym
