// CoDel (Nichols, Jacobson: Controlling Delay, ACM Queue 2012; RFC 8289) as mahimahi has it: when packets
// are to be dropped, the one at the head is still delivered and those behind it are dropped.
#pragma once

#include <cmath>
#include <cstdint>

#include "envs/twin/queue_spec.hh"
#include "envs/twin/timing.hh"
#include "envs/twin/waiting_line.hh"

namespace ccgym {

class CoDel {
 public:
  // Counts in ticks: whole milliseconds in mahimahi's timing, which cuts the control law to them.
  CoDel(const QueueSpec& queue, Timing timing)
      : tick_ns_(timing == Timing::mahimahi ? kNsPerMs : 1),
        target_(queue.target_ms * kNsPerMs / tick_ns_),
        interval_(queue.interval_ms * kNsPerMs / tick_ns_) {}

  // The head of a line that is not empty.
  template <class Drop>
  void dequeue(int64_t now_ns, WaitingLine& line, LinkPacket& head, Drop&& drop) {
    const int64_t now = now_ns / tick_ns_;
    line.pop(head);
    const bool above = stays_above_target(now, head, line);
    if (dropping_) {
      dropping_ = above;
      while (dropping_ && now >= drop_next_) {
        ++count_;
        dropping_ = drop_head(now, line, drop);
        if (dropping_) drop_next_ = control_law(drop_next_);
      }
    } else if (above) {
      drop_head(now, line, drop);
      begin_dropping(now);
    }
  }

 private:
  static constexpr int64_t kFullPacketBytes = 1504;
  static constexpr int64_t kRecentIntervals = 16;

  // Whether `packet`, just taken from `line`, and those before it have been above the target for an interval.
  bool stays_above_target(int64_t now, const LinkPacket& packet, const WaitingLine& line) {
    const int64_t sojourn = now - packet.arrival_ns / tick_ns_;
    if (line.empty() || sojourn < target_ || line.bytes() <= kFullPacketBytes) {
      first_above_ = 0;
      return false;
    }
    if (first_above_ == 0) {
      first_above_ = now + interval_;
      return false;
    }
    return now >= first_above_;
  }

  template <class Drop>
  bool drop_head(int64_t now, WaitingLine& line, Drop&& drop) {
    LinkPacket victim;
    line.pop(victim);
    drop(victim);
    return stays_above_target(now, victim, line);
  }

  void begin_dropping(int64_t now) {
    dropping_ = true;
    const uint32_t since_last = count_ - last_count_;
    const bool recent = now >= drop_next_ && now - drop_next_ < kRecentIntervals * interval_;
    count_ = since_last > 1 && recent ? since_last : 1;
    drop_next_ = control_law(now);
    last_count_ = count_;
  }

  [[nodiscard]] int64_t control_law(int64_t from) const {
    return from + static_cast<int64_t>(static_cast<double>(interval_) / std::sqrt(count_));
  }

  int64_t tick_ns_;
  int64_t target_;
  int64_t interval_;
  int64_t first_above_{0};
  int64_t drop_next_{0};
  uint32_t count_{0};
  uint32_t last_count_{0};
  bool dropping_{false};
};

}  // namespace ccgym
