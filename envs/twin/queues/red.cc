#include "envs/twin/queues/red.hh"

#include <cmath>
#include <stdexcept>

namespace ccgym {

namespace {

// While at most so many packets wait, nothing is dropped or marked, even if the mean length is still above
// the threshold. The paper leaves this open; ns-2 and ns-3 do the same. Otherwise a flow would reduce its
// window twice for one episode of marks.
constexpr std::size_t kShortQueuePackets = 1;

}  // namespace

Red::Red(const Parameters& parameters, const QueueSetting& setting)
    : parameters_(parameters),
      ns_per_packet_(static_cast<double>(setting.ns_per_packet)),
      random_(setting.seed) {
  if (parameters.max_threshold_packets <= parameters.min_threshold_packets)
    throw std::invalid_argument("max_threshold_packets must be above min_threshold_packets");
}

void Red::enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) {
  update_mean(packet.arrival_ns, line);
  LinkPacket taken = packet;
  const bool active =
      mean_packets_ >= parameters_.min_threshold_packets && line.packets() > kShortQueuePackets;
  const bool fits = line.has_room_for(packet) && (!active || mean_packets_ < drop_all_packets());
  const bool stays = fits && (!selects(active) || (parameters_.ecn && taken.label.mark()));
  if (!fits) packets_since_drop_ = 0;
  stays ? line.push(taken) : dropped.push_back(taken);
}

void Red::dequeue(int64_t now_ns, WaitingLine& line, LinkPacket& packet, DroppedPackets& /*dropped*/) {
  line.pop(packet);
  if (line.empty()) empty_since_ns_ = now_ns;
}

// An idle time counts as the number of packets that could have left in it (section 4).
void Red::update_mean(int64_t now_ns, const WaitingLine& line) {
  if (line.empty()) {
    const double idle_packets = static_cast<double>(now_ns - empty_since_ns_) / ns_per_packet_;
    mean_packets_ *= std::pow(1 - parameters_.weight, idle_packets);
  } else {
    mean_packets_ += parameters_.weight * (static_cast<double>(line.packets()) - mean_packets_);
  }
}

// The mean length from which every packet is dropped.
double Red::drop_all_packets() const {
  return (parameters_.gentle ? 2 : 1) * parameters_.max_threshold_packets;
}

// p_b, by the mean length (section 4); above the upper threshold that of gentle RED.
double Red::base_probability() const {
  const double least = parameters_.min_threshold_packets;
  const double most = parameters_.max_threshold_packets;
  const double highest = parameters_.max_probability;
  if (mean_packets_ < most) return highest * (mean_packets_ - least) / (most - least);
  return highest + (1 - highest) * (mean_packets_ - most) / most;
}

// Section 7: the number of packets between two drops or marks is uniformly distributed.
bool Red::selects(bool active) {
  if (!active) {
    packets_since_drop_ = 0;
    return false;
  }
  const double probability = base_probability();
  const double left = 1 - static_cast<double>(packets_since_drop_) * probability;
  const bool selected = left <= probability || random_.uniform() * left < probability;
  packets_since_drop_ = selected ? 0 : packets_since_drop_ + 1;
  return selected;
}

}  // namespace ccgym
