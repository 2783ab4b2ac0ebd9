// The monitor intervals of a flow: the open one, and those that still wait for ACKs of their packets.
#pragma once

#include <deque>
#include <optional>
#include <set>

#include "agents/controllers/pcc/monitor_interval.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class MonitorIntervals {
 public:
  explicit MonitorIntervals(int64_t packet_bytes) : packet_bytes_{packet_bytes} {}

  // Closes the open interval, if there is one; the packet `first_seq`, which leaves now, is the first of a
  // new one.
  void open(Time now, uint64_t first_seq, int trial, double rate_mbps);

  void on_sent();
  // ACKs and losses are counted in the interval in which the packet was sent, however late they are. A packet
  // that a time-out presumed lost may still arrive: it counts as lost only after later packets have been
  // acknowledged.
  void on_ack(Time now, const AckEvent& ack);
  void on_timeout(const Timeout& timeout);
  void on_spurious_loss(const SpuriousLoss& loss);  // before the on_ack of the same packet

  // Removes and returns the oldest interval if it is closed and the fate of all its packets is known.
  std::optional<MonitorInterval> take_settled();

  [[nodiscard]] std::size_t outstanding() const { return intervals_.size(); }  // including the open one

 private:
  void close(Time now);
  void on_delivered(Time now, const AckedPacket& packet);
  MonitorInterval* interval_of(uint64_t seq);
  [[nodiscard]] bool is_settled(const MonitorInterval& interval) const;

  int64_t packet_bytes_;
  std::deque<MonitorInterval> intervals_{};
  std::set<uint64_t> timed_out_{};  // packets of the intervals that a time-out presumed lost
  uint64_t acked_end_{0};           // one past the newest acknowledged packet
};

}  // namespace ccgym
