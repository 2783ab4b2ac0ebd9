#include "envs/twin/queues/codel.hh"

#include <cmath>

#include "envs/twin/packet_sizes.hh"

namespace ccgym {

namespace {

// RFC 8289, section 5: dropping that ended within so many intervals resumes at its former rate.
constexpr int64_t kRecentIntervals = 16;

}  // namespace

CoDel::CoDel(const Parameters& parameters, const QueueSetting& setting)
    : tick_ns_(setting.timing == Timing::mahimahi ? kNsPerMs : 1),
      target_(parameters.target_ms * kNsPerMs / tick_ns_),
      interval_(parameters.interval_ms * kNsPerMs / tick_ns_),
      ecn_(parameters.ecn) {}

void CoDel::dequeue(int64_t now_ns, WaitingLine& line, LinkPacket& head, DroppedPackets& dropped) {
  const int64_t now = now_ns / tick_ns_;
  line.pop(head);
  const bool above = stays_above_target(now, head, line);
  if (dropping_) {
    dropping_ = above;
    while (dropping_ && now >= drop_next_) {
      ++count_;
      if (ecn_ && line.front().label.mark()) {
        drop_next_ = control_law(drop_next_);
        return;
      }
      dropping_ = drop_head(now, line, dropped);
      if (dropping_) drop_next_ = control_law(drop_next_);
    }
  } else if (above) {
    if (!ecn_ || !line.front().label.mark()) drop_head(now, line, dropped);
    begin_dropping(now);
  }
}

// Whether the queueing delays of `packet`, just taken from `line`, and of those before it have been above the
// target for an interval.
bool CoDel::stays_above_target(int64_t now, const LinkPacket& packet, const WaitingLine& line) {
  const int64_t sojourn = now - packet.arrival_ns / tick_ns_;
  if (line.empty() || sojourn < target_ || line.bytes() <= kOpportunityBytes) {
    first_above_ = 0;
    return false;
  }
  if (first_above_ == 0) {
    first_above_ = now + interval_;
    return false;
  }
  return now >= first_above_;
}

bool CoDel::drop_head(int64_t now, WaitingLine& line, DroppedPackets& dropped) {
  line.pop(dropped.emplace_back());
  return stays_above_target(now, dropped.back(), line);
}

void CoDel::begin_dropping(int64_t now) {
  dropping_ = true;
  const uint32_t since_last = count_ - last_count_;
  const bool recent = now >= drop_next_ && now - drop_next_ < kRecentIntervals * interval_;
  count_ = since_last > 1 && recent ? since_last : 1;
  drop_next_ = control_law(now);
  last_count_ = count_;
}

int64_t CoDel::control_law(int64_t from) const {
  return from + static_cast<int64_t>(static_cast<double>(interval_) / std::sqrt(count_));
}

}  // namespace ccgym
