// The contract of a queue discipline: what a queue does besides keeping packets in order and dropping those
// that find no room (mahimahi's droptail, which needs no discipline).
//
// One file pair for each discipline. Its class has, besides the contract,
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
  uint64_t seed{0};          // of random decisions
  int64_t ns_per_packet{1};  // for a full packet at the link's mean rate
};

using DroppedPackets = std::vector<LinkPacket>;

class QueueDiscipline {
 public:
  QueueDiscipline() = default;
  QueueDiscipline(const QueueDiscipline&) = default;
  QueueDiscipline& operator=(const QueueDiscipline&) = default;
  virtual ~QueueDiscipline() = default;

  // A packet arrives: it joins the line, perhaps marked, or is dropped.
  virtual void enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) {
    if (line.has_room_for(packet)) {
      line.push(packet);
    } else {
      dropped.push_back(packet);
    }
  }
  // Puts the next packet to be sent into `packet`; the line is not empty.
  virtual void dequeue(int64_t /*now_ns*/, WaitingLine& line, LinkPacket& packet,
                       DroppedPackets& /*dropped*/) {
    line.pop(packet);
  }
  [[nodiscard]] virtual std::unique_ptr<QueueDiscipline> clone() const = 0;
};

}  // namespace ccgym
