// The monitor intervals of a flow: the open one, and those whose packets are still on their way.
#pragma once

#include <deque>
#include <optional>

#include "agents/controllers/pcc/monitor_interval.hh"

namespace ccgym {

class MonitorIntervals {
 public:
  // Closes the open interval and opens the next one.
  void open(Time now, int trial, double rate_mbps);

  void on_sent(uint64_t seq);
  void on_ack(const AckedPacket& packet);  // each ACK and each loss is charged to the interval that sent it,
  void on_loss(const Loss& loss);          // however much later it becomes known

  // The oldest interval, once it is closed and every packet of it accounted for; an empty one is dropped.
  std::optional<MonitorInterval> take_settled();

  [[nodiscard]] std::size_t outstanding() const { return intervals_.size(); }  // with the open one
  [[nodiscard]] int64_t packets_in_open() const { return intervals_.empty() ? 0 : intervals_.back().sent; }

 private:
  MonitorInterval* sender_of(uint64_t seq);

  std::deque<MonitorInterval> intervals_{};
  uint64_t next_seq_{0};
};

}  // namespace ccgym
