#include "envs/twin/queues/red.hh"

#include <cmath>
#include <stdexcept>

namespace ccgym {

namespace {

// While at most one packet waits nothing is dropped or marked, whatever the mean still says. The paper leaves
// this open; the REDs of ns-2 and ns-3 do so. Otherwise one episode of marks would cost two reductions.
constexpr std::size_t kLetBePackets = 1;

}  // namespace

Red::Red(const Parameters& parameters, const QueueSetting& setting)
    : parameters_(parameters),
      ns_per_packet_(static_cast<double>(setting.ns_per_packet)),
      random_(setting.seed) {
  if (parameters.max_threshold_packets <= parameters.min_threshold_packets)
    throw std::invalid_argument("max_threshold_packets must be above min_threshold_packets");
}

void Red::enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) {
  average(packet.arrival_ns, line);
  LinkPacket taken = packet;
  const bool rules = mean_packets_ >= parameters_.min_threshold_packets && line.packets() > kLetBePackets;
  const bool fits = line.has_room_for(packet) && (!rules || mean_packets_ < full_packets());
  const bool stays = fits && (!picks(rules) || (parameters_.ecn && taken.label.mark()));
  if (!fits) spared_packets_ = 0;
  stays ? line.push(taken) : dropped.push_back(taken);
}

void Red::dequeue(int64_t now_ns, WaitingLine& line, LinkPacket& packet, DroppedPackets& /*dropped*/) {
  line.pop(packet);
  if (line.empty()) empty_since_ns_ = now_ns;
}

// An idle time counts as the number of packets that could have left in it (section 4).
void Red::average(int64_t now_ns, const WaitingLine& line) {
  if (line.empty()) {
    const double idle_packets = static_cast<double>(now_ns - empty_since_ns_) / ns_per_packet_;
    mean_packets_ *= std::pow(1 - parameters_.weight, idle_packets);
  } else {
    mean_packets_ += parameters_.weight * (static_cast<double>(line.packets()) - mean_packets_);
  }
}

// The mean length from which every packet is dropped.
double Red::full_packets() const { return (parameters_.gentle ? 2 : 1) * parameters_.max_threshold_packets; }

double Red::base_probability() const {
  const double least = parameters_.min_threshold_packets;
  const double most = parameters_.max_threshold_packets;
  const double highest = parameters_.max_probability;
  if (mean_packets_ < most) return highest * (mean_packets_ - least) / (most - least);
  return highest + (1 - highest) * (mean_packets_ - most) / most;
}

// Section 7: the number of packets between two drops or marks is uniformly distributed.
bool Red::picks(bool rules) {
  if (!rules) {
    spared_packets_ = 0;
    return false;
  }
  const double probability = base_probability();
  const double left = 1 - static_cast<double>(spared_packets_) * probability;
  const bool picked = left <= probability || random_.uniform() * left < probability;
  spared_packets_ = picked ? 0 : spared_packets_ + 1;
  return picked;
}

}  // namespace ccgym
