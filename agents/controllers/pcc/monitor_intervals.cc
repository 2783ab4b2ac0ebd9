#include "agents/controllers/pcc/monitor_intervals.hh"

#include <algorithm>

namespace ccgym {

namespace {

constexpr uint64_t kReorderedPackets = 3;  // RFC 9002, kPacketThreshold
constexpr double kHeldBack = 0.9;          // share of the rate below which an interval counts as held back

}  // namespace

void MonitorIntervals::open(Time now, uint64_t first_seq, int trial, double rate_mbps) {
  if (!intervals_.empty()) close(now);
  intervals_.push_back({.trial = trial, .rate_mbps = rate_mbps, .began = now, .first_seq = first_seq});
}

// A sender with a closed window, or without data, does not reach the rate of the trial: the utility is then
// attributed to the rate that it achieved.
void MonitorIntervals::close(Time now) {
  MonitorInterval& interval = intervals_.back();
  interval.closed = true;
  const double megabits = static_cast<double>(interval.sent * packet_bytes_) * 8e-6;
  const double sent_mbps = megabits / in_seconds(now - interval.began);
  if (sent_mbps >= kHeldBack * interval.rate_mbps) return;
  interval.held_back = true;
  interval.rate_mbps = sent_mbps;
}

void MonitorIntervals::on_sent() {
  if (!intervals_.empty()) ++intervals_.back().sent;
}

void MonitorIntervals::on_ack(Time now, const AckEvent& ack) {
  for (const LostPacket& packet : ack.lost) {
    if (MonitorInterval* interval = interval_of(packet.seq)) ++interval->lost;
  }
  for (const AckedPacket& packet : ack.acked) on_delivered(now, packet);
}

void MonitorIntervals::on_timeout(const Timeout& timeout) {
  for (const LostPacket& packet : timeout.lost) {
    MonitorInterval* interval = interval_of(packet.seq);
    if (interval == nullptr) continue;
    ++interval->timed_out;
    timed_out_.insert(packet.seq);
  }
}

void MonitorIntervals::on_spurious_loss(const SpuriousLoss& loss) {
  MonitorInterval* interval = interval_of(loss.seq);
  if (interval != nullptr && !timed_out_.contains(loss.seq)) --interval->lost;
  const auto first = timed_out_.lower_bound(loss.seq);
  const auto end = loss.timeout ? timed_out_.end() : timed_out_.upper_bound(loss.seq);
  for (auto seq = first; seq != end; ++seq) --interval_of(*seq)->timed_out;
  timed_out_.erase(first, end);
}

void MonitorIntervals::on_delivered(Time now, const AckedPacket& packet) {
  acked_end_ = std::max(acked_end_, packet.seq + 1);
  MonitorInterval* interval = interval_of(packet.seq);
  if (interval == nullptr) return;
  ++interval->acked;
  interval->last_rtt_s = in_seconds(now - packet.sent_at);
  interval->rtts.add(in_seconds(packet.sent_at - interval->began), interval->last_rtt_s);
}

std::optional<MonitorInterval> MonitorIntervals::take_settled() {
  if (intervals_.empty() || !is_settled(intervals_.front())) return std::nullopt;
  const MonitorInterval settled = intervals_.front();
  intervals_.pop_front();
  timed_out_.erase(timed_out_.begin(), timed_out_.lower_bound(settled.end_seq()));
  return settled;
}

bool MonitorIntervals::is_settled(const MonitorInterval& interval) const {
  if (!interval.closed) return false;
  const int64_t known = interval.acked + interval.lost;
  if (known >= interval.sent) return true;
  return known + interval.timed_out >= interval.sent && acked_end_ >= interval.end_seq() + kReorderedPackets;
}

// A search from the oldest interval on, which is mostly the right one, because ACKs come roughly in order.
MonitorInterval* MonitorIntervals::interval_of(uint64_t seq) {
  MonitorInterval* found = nullptr;
  for (MonitorInterval& interval : intervals_) {
    if (interval.first_seq > seq) break;
    found = &interval;
  }
  return found;
}

}  // namespace ccgym
