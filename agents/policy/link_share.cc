#include "agents/policy/link_share.hh"

#include <algorithm>
#include <chrono>

namespace ccgym {

namespace {

constexpr double kHeldShare = 0.125;  // of the window: more would let the rival take the room
constexpr double kLeastPackets = 4;   // the clock of a link (1 ms in mahimahi) drowns a shorter train
static_assert(2 * kLeastPackets <= LinkShare::kLeastWindowPackets);  // more than half would let the flow stop
constexpr int kEnoughTrains = 4;

// What is held back is not sent, so trains are rarer once the share is known. With one in every round trip
// 75 % of 84 links beside one BBR were shared between 25 and 75 %, with one in four 92 %; with one in eight
// flows of our kind take each other for rivals.
constexpr int kRoundTripsApart = 4;
constexpr double kRemembered = 0.8;                       // of the sums, at every train
constexpr Time kAtOnce = std::chrono::microseconds{500};  // a driver's time to send a train

double in_ms(Time time) { return std::chrono::duration<double, std::milli>(time).count(); }

}  // namespace

bool LinkShare::on_ack(Time now, const AckEvent& ack, double cwnd_packets) {
  const auto packet_bytes = static_cast<double>(ack.newest().bytes);
  switch (phase_) {
    case Phase::waiting:
      return hold(now, cwnd_packets);
    case Phase::holding:
      return send(now, cwnd_packets - static_cast<double>(ack.inflight_bytes) / packet_bytes);
    case Phase::sending:
      phase_ = Phase::arriving;
      return true;
    case Phase::arriving:
      note_arrivals(now, ack);
      return false;
  }
  return false;
}

bool LinkShare::hold(Time now, double cwnd_packets) {
  if (now < next_at_ || cwnd_packets < kLeastWindowPackets) return false;
  held_packets_ = std::max(kLeastPackets, kHeldShare * cwnd_packets);
  phase_ = Phase::holding;
  return true;
}

bool LinkShare::send(Time now, double held_packets) {
  if (held_packets < held_packets_) return false;
  phase_ = Phase::sending;
  train_ = {.sent_at = now};
  return true;
}

void LinkShare::note_arrivals(Time now, const AckEvent& ack) {
  for (const AckedPacket& packet : ack.acked) {
    if (!of_train(packet)) continue;
    if (train_.packets == 0) train_.first_arrival = packet.arrived_at(now);
    train_.last_arrival = packet.arrived_at(now);
    ++train_.packets;
  }
  if (ack.newest().sent_at > train_.sent_at + kAtOnce) close_train(now, ack);
}

void LinkShare::close_train(Time now, const AckEvent& ack) {
  phase_ = Phase::waiting;
  next_at_ = now + (trains_ < kEnoughTrains ? 1 : kRoundTripsApart) * ack.rtt.smoothed;
  if (train_.packets < kLeastPackets) return;
  ++trains_;
  link_.add(train_.packets - 1, in_ms(train_.last_arrival - train_.first_arrival));
  own_.add(static_cast<double>(ack.rate.delivered_bytes) / static_cast<double>(ack.newest().bytes),
           in_ms(ack.rate.interval));
}

bool LinkShare::of_train(const AckedPacket& packet) const {
  return packet.sent_at >= train_.sent_at && packet.sent_at <= train_.sent_at + kAtOnce;
}

void LinkShare::Flow::add(double more_packets, double more_ms) {
  packets = kRemembered * packets + more_packets;
  ms = kRemembered * ms + more_ms;
}

double LinkShare::limit(double cwnd_packets) const {
  return phase_ == Phase::holding ? cwnd_packets - held_packets_ : cwnd_packets;
}

std::optional<double> LinkShare::share() const {
  if (trains_ < kEnoughTrains || link_packets_per_ms() == 0) return std::nullopt;
  return own_.packets_per_ms() / link_packets_per_ms();
}

double LinkShare::link_packets_per_ms() const { return link_.packets_per_ms(); }

}  // namespace ccgym
