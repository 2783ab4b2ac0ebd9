// The monitor intervals of a flow: the open one, and those whose packets are still on their way.
#pragma once

#include <deque>
#include <optional>
#include <set>

#include "agents/controllers/pcc/monitor_interval.hh"

namespace ccgym {

class MonitorIntervals {
 public:
  explicit MonitorIntervals(int64_t packet_bytes) : packet_bytes_{packet_bytes} {}

  // The next packet closes the open interval and is the first of a new one.
  void open(Time now, uint64_t first_seq, int trial, double rate_mbps);

  void on_sent();
  // Each packet that arrives or is lost is charged to the interval that sent it, however much later it
  // becomes known. What a time-out presumes lost may yet arrive: it waits for the ACK of a later packet to
  // tell.
  void on_ack(Time now, const AckEvent& ack);
  void on_timeout(const Timeout& timeout);
  void on_spurious_loss(const SpuriousLoss& loss);  // before the ACK that tells of its arrival

  // The oldest interval, once it is closed and every packet of it accounted for.
  std::optional<MonitorInterval> take_settled();

  [[nodiscard]] std::size_t outstanding() const { return intervals_.size(); }  // with the open one

 private:
  void close(Time now);
  void on_delivered(Time now, const AckedPacket& packet);
  MonitorInterval* sender_of(uint64_t seq);
  [[nodiscard]] bool is_settled(const MonitorInterval& interval) const;

  int64_t packet_bytes_;
  std::deque<MonitorInterval> intervals_{};
  std::set<uint64_t> timed_out_{};  // of the intervals' packets
  uint64_t acked_end_{0};           // one past the latest that was acknowledged
};

}  // namespace ccgym
