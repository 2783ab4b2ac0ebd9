#include "agents/controllers/pcc/monitor_intervals.hh"

#include <chrono>

namespace ccgym {

namespace {

double seconds_of(Time time) { return std::chrono::duration<double>{time}.count(); }

}  // namespace

void MonitorIntervals::open(Time now, int trial, double rate_mbps) {
  if (!intervals_.empty()) intervals_.back().closed = true;
  intervals_.push_back({.trial = trial, .rate_mbps = rate_mbps, .began = now, .first_seq = next_seq_});
}

void MonitorIntervals::on_sent(uint64_t seq) {
  next_seq_ = seq + 1;
  if (!intervals_.empty()) ++intervals_.back().sent;
}

void MonitorIntervals::on_ack(const AckedPacket& packet) {
  MonitorInterval* interval = sender_of(packet.seq);
  if (interval == nullptr) return;
  ++interval->acked;
  interval->rtts.add(seconds_of(packet.sent_at - interval->began), seconds_of(packet.rtt.latest));
}

void MonitorIntervals::on_loss(const Loss& loss) {
  for (const LostPacket& packet : loss.packets) {
    if (MonitorInterval* interval = sender_of(packet.seq)) ++interval->lost;
  }
}

std::optional<MonitorInterval> MonitorIntervals::take_settled() {
  while (!intervals_.empty() && intervals_.front().settled()) {
    const MonitorInterval settled = intervals_.front();
    intervals_.pop_front();
    if (settled.sent > 0) return settled;
  }
  return std::nullopt;
}

// Mostly the oldest: ACKs come roughly in order.
MonitorInterval* MonitorIntervals::sender_of(uint64_t seq) {
  MonitorInterval* sender = nullptr;
  for (MonitorInterval& interval : intervals_) {
    if (interval.first_seq > seq) break;
    sender = &interval;
  }
  return sender;
}

}  // namespace ccgym
