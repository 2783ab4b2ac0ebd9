// Stands between a sender and its controller, and notes where the sender breaks the contract at the top of
// congestion_controller.hh.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "transport/forwarding_controller.hh"

namespace ccgym {

class DriverContract final : public ForwardingController<Cloned<CongestionController>> {
 public:
  using ForwardingController::ForwardingController;

  void on_sent(Time now, const SentPacket& packet) override {
    check(now, packet.seq == next_seq_, "sent out of order");
    check(now, !was_restarted_ || in_flight_.empty(), "a restart with packets in flight");
    was_restarted_ = false;
    in_flight_.insert(next_seq_++);
    check(now, packet.inflight_bytes == bytes_in_flight(packet.bytes), "another number of bytes in flight");
    ForwardingController::on_sent(now, packet);
  }
  void on_ack(Time now, const AckEvent& ack) override {
    check(now, !ack.acked.empty() || !ack.lost.empty(), "an ACK of nothing");
    check(now, ack.next_seq == next_seq_, "another next number");
    check(now, ack.ce_packets >= 0 && (ack.ce_packets == 0 || wants_ecn()),
          "marks on what may not be marked");
    uint64_t end = 0;
    for (const AckedPacket& packet : ack.acked) {
      check(now, packet.seq >= end, "an ACK out of order");
      check(now, in_flight_.erase(packet.seq) == 1, "acknowledged what was not in flight");
      check(now, packet.sent_at <= now, "acknowledged before it was sent");
      end = packet.seq + 1;
    }
    give_up(now, ack.lost, lost_);
    if (!ack.acked.empty()) check(now, ack.rtt.min <= ack.rtt.latest, "an RTT below the least");
    if (!ack.acked.empty())
      check(now, ack.inflight_bytes == bytes_in_flight(ack.newest().bytes), "another number in flight");
    ForwardingController::on_ack(now, ack);
  }
  void on_timeout(Time now, const Timeout& timeout) override {
    give_up(now, timeout.lost, timed_out_);
    check(now, in_flight_.empty(), "a time-out that gives up less than all");
    spurious_end_ = next_seq_;
    ForwardingController::on_timeout(now, timeout);
  }
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override {
    const bool timed_out = timed_out_.erase(loss.seq) == 1;
    check(now, timed_out || lost_.erase(loss.seq) == 1, "spurious, but not lost");
    check(now, !loss.timeout || loss.seq < spurious_end_,
          "a time-out is spurious twice, or by a later packet");
    if (loss.timeout) spurious_end_ = 0;
    in_flight_.insert(loss.seq);
    if (loss.timeout) in_flight_.insert(timed_out_.upper_bound(loss.seq), timed_out_.end());
    if (loss.timeout) timed_out_.erase(timed_out_.upper_bound(loss.seq), timed_out_.end());
    ForwardingController::on_spurious_loss(now, loss);
  }
  void on_restart(Time now, Time idle) override {
    check(now, in_flight_.empty() && idle >= Time{} && idle <= now, "a restart without an idle time");
    was_restarted_ = true;
    ForwardingController::on_restart(now, idle);
  }
  void on_timer(Time now) override {
    check(now, next_timer() && *next_timer() <= now, "a timer that is not due");
    ForwardingController::on_timer(now);
  }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<DriverContract>(*this);
  }

  [[nodiscard]] const std::vector<std::string>& breaches() const { return breaches_; }

 private:
  void check(Time now, bool kept, const char* breach) {
    if (now < last_) breaches_.emplace_back("time goes back");
    last_ = now;
    if (!kept) breaches_.emplace_back(breach);
  }

  void give_up(Time now, std::span<const LostPacket> lost, std::set<uint64_t>& where) {
    for (const LostPacket& packet : lost) {
      check(now, in_flight_.erase(packet.seq) == 1, "lost what was not in flight");
      where.insert(packet.seq);
    }
  }

  [[nodiscard]] int64_t bytes_in_flight(int64_t packet_bytes) const {
    return static_cast<int64_t>(in_flight_.size()) * packet_bytes;
  }

  Time last_{};
  uint64_t next_seq_{0};
  std::set<uint64_t> in_flight_{};
  std::set<uint64_t> lost_{};
  std::set<uint64_t> timed_out_{};
  uint64_t spurious_end_{0};  // a time-out is spurious by what left before
  bool was_restarted_{false};
  std::vector<std::string> breaches_{};
};

}  // namespace ccgym
