#include "envs/twin/queues/step.hh"

namespace ccgym {

void Step::enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) {
  LinkPacket taken = packet;
  const bool above = static_cast<int64_t>(line.packets()) > threshold_packets_;
  const bool stays = line.has_room_for(packet) && (!above || taken.label.mark());
  stays ? line.push(taken) : dropped.push_back(taken);
}

}  // namespace ccgym
