#include "agents/controllers/sprout/sprout.hh"

#include <algorithm>

#include "agents/controllers/sprout/forecast.hh"

namespace ccgym {

namespace {

constexpr std::size_t kLookAheadTicks = 5;  // section 3.5: packets should leave the queue within 100 ms
constexpr int64_t kFirstWindowPackets = 2;
constexpr int64_t kMinWindowPackets = 1;
// As Copa's and BBR's. If the min RTT were that of the whole flow, a path whose propagation delay grows would
// look backlogged for ever. Sprout bounds its own queue to 100 ms, so that the queue empties within the
// window.
constexpr Time kMinRttWindow = std::chrono::seconds{10};

}  // namespace

Sprout::Sprout(int64_t packet_bytes)
    : packet_bytes_{packet_bytes}, cwnd_bytes_{kFirstWindowPackets * packet_bytes} {}

void Sprout::on_sent(Time now, const SentPacket& packet) { outstanding_.push_back({packet.seq, now}); }

void Sprout::on_ack(Time now, const AckEvent& ack) {
  if (!ack.acked.empty()) min_rtt_.update(now, ack.rtt.latest, kMinRttWindow);
  packets_in_tick_ += static_cast<int>(ack.acked.size());
  for (const LostPacket& packet : ack.lost) settle(packet.seq);
  for (const AckedPacket& packet : ack.acked) settle(packet.seq);
  if (!next_tick_) next_tick_ = now + kSproutTick;
}

void Sprout::on_timeout(Time /*now*/, const Timeout& timeout) {
  for (const LostPacket& packet : timeout.lost) settle(packet.seq);
}

// Earlier packets count as settled as well: without reordering they have left the queue.
void Sprout::settle(uint64_t seq) {
  while (!outstanding_.empty() && outstanding_.front().seq <= seq) outstanding_.pop_front();
}

// Once in a tick (section 3.2): evolve, observe, forecast.
void Sprout::on_timer(Time now, const Timer& /*timer*/) {
  belief_.evolve();
  if (link_is_backlogged(now)) {
    belief_.observe(packets_in_tick_);
  } else {
    belief_.observe_at_least(packets_in_tick_);
  }
  packets_in_tick_ = 0;
  const int64_t packets = cautious_forecast(belief_.probabilities())[kLookAheadTicks - 1];
  cwnd_bytes_ = std::max(packets, kMinWindowPackets) * packet_bytes_;
  next_tick_ = now + kSproutTick;
}

// If the oldest packet is overdue by more than a quarter of a tick, it waits in the link's queue, or the link
// has an outage.
bool Sprout::link_is_backlogged(Time now) const {
  return !outstanding_.empty() && now - outstanding_.front().sent_at > min_rtt_.best() + kSproutTick / 4;
}

}  // namespace ccgym
