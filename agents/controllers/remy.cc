#include "agents/controllers/remy.hh"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ccgym {

namespace {

constexpr double kAlpha = 1.0 / 8;        // SIGCOMM 2013 section 4.1: send_ewma and rec_ewma
constexpr double kSlowAlpha = 1.0 / 256;  // SIGCOMM 2014 section 3.1: slow_rec_ewma
constexpr double kMinWindowPackets = 1;
constexpr double kMaxWindowPackets = 50'000;  // bounds a rule that multiplies the window at every ACK

}  // namespace

Remy::Remy(int64_t packet_bytes, RemyTable table) : packet_bytes_{packet_bytes}, table_{std::move(table)} {
  restart();
}

// SIGCOMM 2013 section 4.1: every ACK updates the memory and then looks up an action.
void Remy::on_ack(Time now, const AckEvent& ack) {
  for (const AckedPacket& packet : ack.acked) {
    remember(packet, packet.arrived_at(now), ack.rtt);
    act();
  }
}

// RemyCCs do not respond to losses; after a time-out the flow starts again.
void Remy::on_timeout(Time /*now*/, const Timeout& /*timeout*/) { restart(); }

void Remy::remember(const AckedPacket& packet, Time received_at, const RttStats& rtt) {
  if (last_) {
    const double send_ms = in_ms(packet.sent_at - last_->sent_at);
    const double received_ms = in_ms(received_at - last_->received_at);
    blend(remy_signal::kSendEwmaMs, kAlpha, send_ms);
    blend(remy_signal::kRecEwmaMs, kAlpha, received_ms);
    blend(remy_signal::kSlowRecEwmaMs, kSlowAlpha, received_ms);
  }
  if (rtt.min > Time{}) memory_[remy_signal::kRttRatio] = in_ms(rtt.latest) / in_ms(rtt.min);
  last_ = {packet.sent_at, received_at};
}

// SIGCOMM 2013 section 4.2: cwnd <- m cwnd + b, and at least tau ms between two packets. The window is cut to
// whole packets, as in the program that trains the tables (https://github.com/tcpexmachina/remy).
void Remy::act() {
  const Whisker& whisker = table_.find(memory_);
  cwnd_packets_ = std::clamp(std::trunc(whisker.window_multiple * cwnd_packets_ + whisker.window_increment),
                             kMinWindowPackets, kMaxWindowPackets);
  intersend_ms_ = whisker.intersend_ms;
}

// A flow starts with an all-zero memory and the action for it.
void Remy::restart() {
  memory_ = {};
  last_.reset();
  cwnd_packets_ = 0;
  act();
}

SendLimits Remy::limits() const {
  SendLimits limits{.cwnd_bytes = static_cast<int64_t>(cwnd_packets_) * packet_bytes_};
  if (intersend_ms_ > 0)
    limits.pacing_rate = Rate::from_mbps(static_cast<double>(packet_bytes_) * 8e-3 / intersend_ms_);
  return limits;
}

}  // namespace ccgym
