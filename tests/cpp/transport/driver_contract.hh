// A decorator of a controller that records where its driver violates the contract at the top of
// congestion_controller.hh.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "transport/forwarding_controller.hh"

namespace ccgym {

// The calls of a driver, counted by kind, and its violations, each once with the time of the first.
class ContractLog {
 public:
  void note_call(const std::string& call) { ++calls_[call]; }
  // Throws after many violations: a driver that sends for ever would keep the test from ending.
  void note_violation(Time now, const char* violation) {
    if (reported_.insert(violation).second)
      violations_.push_back(violation + (" at " + std::to_string(in_ms(now))) + " ms");
    if (++violation_count_ > kMaxViolations)
      throw std::runtime_error("too many violations, the last: " + violations_.back());
  }
  [[nodiscard]] const std::map<std::string, int>& calls() const { return calls_; }
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  static constexpr int kMaxViolations = 1000;

  std::map<std::string, int> calls_{};
  std::set<std::string> reported_{};
  std::vector<std::string> violations_{};
  int violation_count_{0};
};

class DriverContract final : public ForwardingController<Cloned<CongestionController>> {
 public:
  // Copies write to the same log.
  explicit DriverContract(std::unique_ptr<CongestionController> controller,
                          std::shared_ptr<ContractLog> log = std::make_shared<ContractLog>())
      : ForwardingController{std::move(controller)}, log_{std::move(log)} {}

  void on_sent(Time now, const SentPacket& packet) override {
    begin_call(now, "sent");
    check(now, packet.seq == packets_.size(), "sent out of order");
    check(now, !was_restarted_ || in_flight_.empty(), "a restart with packets in flight");
    was_restarted_ = false;
    in_flight_.insert(packets_.size());
    packets_.push_back({now, packet.inflight_bytes, lost_bytes_, delivered_bytes_});
    packet_bytes_ = packet.bytes;
    check(now, packet.inflight_bytes == bytes_in_flight(packet.bytes), "another number of bytes in flight");
    check(now, is_probe(now) || has_room(packet), "sent beyond the window");
    check(now, packet.smoothed_rtt == rtt_.smoothed, "sent with another round trip than the last ACK's");
    ForwardingController::on_sent(now, packet);
    last_activity_ = now;
    unread_after_call_ = kBoth;
  }
  void on_ack(Time now, const AckEvent& ack) override {
    begin_call(now, "acknowledged");
    check(now, !ack.acked.empty() || !ack.lost.empty(), "an ACK of nothing");
    check(now, ack.next_seq == packets_.size(), "another next number");
    check_marks(now, ack);
    for (const AckedPacket& packet : ack.acked) take(now, packet);
    give_up(now, ack.lost, lost_);
    if (!ack.lost.empty()) log_->note_call(ack.acked.empty() ? "overdue" : "lost");
    check(now, std::ranges::is_sorted(ack.acked, std::ranges::less_equal{}, &AckedPacket::seq),
          "an ACK out of order");
    check_totals(now, ack.delivered_bytes, ack.declared_lost_bytes);
    if (ack.acked.empty()) {
      check(now, ack.rate.interval == Time{}, "a rate without an ACK");
      check(now, is_latest_rtt(ack.rtt), "another round trip without an ACK");
    } else {
      rtt_ = ack.rtt;
      check(now, ack.rtt.min <= ack.rtt.latest, "an RTT below the least");
      check(now, ack.rtt.latest == now - ack.newest().sent_at, "an RTT of another packet");
      check(now, ack.inflight_bytes == bytes_in_flight(ack.newest().bytes), "another number in flight");
      note_silence(now, ack.rtt.min);
    }
    ForwardingController::on_ack(now, ack);
    unread_after_call_ = kBoth;
  }
  void on_timeout(Time now, const Timeout& timeout) override {
    begin_call(now, "timed out");
    give_up(now, timeout.lost, timed_out_);
    check(now, in_flight_.empty(), "a time-out that gives up less than all");
    check(now, timeout.next_seq == packets_.size(), "another next number");
    check(now, is_latest_rtt(timeout.rtt), "a time-out with other round trips than the last ACK's");
    check_totals(now, timeout.delivered_bytes, timeout.declared_lost_bytes);
    spurious_end_ = packets_.size();
    ForwardingController::on_timeout(now, timeout);
    unread_after_call_ = kBoth;
  }
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override {
    begin_call(now, "spurious");
    const bool timed_out = timed_out_.erase(loss.seq) == 1;
    check(now, timed_out || lost_.erase(loss.seq) == 1, "spurious, but not lost");
    check(now, !loss.timeout || loss.seq < spurious_end_,
          "a time-out is spurious twice, or by a later packet");
    if (loss.timeout) spurious_end_ = 0;
    if (loss.timeout) log_->note_call("spurious time-out");
    in_flight_.insert(loss.seq);
    if (loss.timeout) in_flight_.insert(timed_out_.upper_bound(loss.seq), timed_out_.end());
    if (loss.timeout) timed_out_.erase(timed_out_.upper_bound(loss.seq), timed_out_.end());
    ForwardingController::on_spurious_loss(now, loss);
    required_call_ = "acknowledged";
  }
  void on_restart(Time now, Time idle) override {
    begin_call(now, "restarted");
    check(now, in_flight_.empty() && idle >= Time{} && idle <= now, "a restart without an idle time");
    was_restarted_ = true;
    ForwardingController::on_restart(now, idle);
    required_call_ = "sent";
  }
  void on_timer(Time now, const Timer& timer) override {
    begin_call(now, "timer");
    const std::optional<Time> due = ForwardingController::next_timer();
    check(now, due && *due <= now, "a timer that is not due");
    check(now, is_latest_rtt(timer.rtt), "a timer with other round trips than the last ACK's");
    check(now, timer.inflight_bytes == bytes_in_flight(packet_bytes_),
          "a timer with another number in flight");
    ForwardingController::on_timer(now, timer);
    unread_after_call_ = kBoth;
  }
  [[nodiscard]] std::optional<Time> next_timer() const override {
    unread_after_call_ &= ~kTimer;
    check(last_, ++reads_ <= kMaxReads, "the timer is read again and again, without a call");
    return ForwardingController::next_timer();
  }
  [[nodiscard]] SendLimits limits() const override {
    unread_after_call_ &= ~kLimits;
    return ForwardingController::limits();
  }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<DriverContract>(*this);
  }

  [[nodiscard]] const std::vector<std::string>& violations() const { return log_->violations(); }

 private:
  static constexpr unsigned kTimer = 1;
  static constexpr unsigned kLimits = 2;
  static constexpr unsigned kBoth = kTimer | kLimits;
  static constexpr int kMaxReads = 1000;  // a driver that ignores a due timer would read it for ever

  struct Departure {
    Time sent_at{};
    int64_t inflight_bytes{};
    int64_t lost_bytes{};
    int64_t delivered_bytes{};
  };

  // Checks what has to hold at the beginning of every call.
  void begin_call(Time now, const std::string& call) {
    log_->note_call(call);
    check(now, now >= last_, "time goes back");
    last_ = now;
    reads_ = 0;
    check(now, unread_after_call_ == 0, "window or timer were not read after a call");
    const std::string required = std::exchange(required_call_, {});
    check(now, required.empty() || call == required || (required == "acknowledged" && call == "spurious"),
          "a restart without its packet, or a spurious loss without its ACK");
  }

  void check(Time now, bool kept, const char* violation) const {
    if (!kept) log_->note_violation(now, violation);
  }

  void take(Time now, const AckedPacket& packet) {
    check(now, in_flight_.erase(packet.seq) == 1, "acknowledged what was not in flight");
    check(now, packet.sent_at <= now, "acknowledged before it was sent");
    delivered_bytes_ += packet.bytes;
    if (packet.seq >= packets_.size()) return;
    const Departure& departure = packets_[packet.seq];
    check(now, packet.sent_at == departure.sent_at, "another time of departure");
    check(now,
          packet.inflight_bytes_at_departure == departure.inflight_bytes &&
              packet.lost_bytes_at_departure == departure.lost_bytes &&
              packet.delivered_bytes_at_departure == departure.delivered_bytes,
          "other totals at departure");
  }

  void give_up(Time now, std::span<const LostPacket> lost, std::set<uint64_t>& where) {
    check(now, std::ranges::is_sorted(lost, std::ranges::less_equal{}, &LostPacket::seq),
          "losses out of order");
    for (const LostPacket& packet : lost) {
      check(now, in_flight_.erase(packet.seq) == 1, "lost what was not in flight");
      where.insert(packet.seq);
      lost_bytes_ += packet.bytes;
    }
  }

  [[nodiscard]] bool is_latest_rtt(const RttStats& rtt) const {
    return rtt.latest == rtt_.latest && rtt.smoothed == rtt_.smoothed && rtt.min == rtt_.min;
  }

  // A packet is marked at most once.
  void check_marks(Time now, const AckEvent& ack) {
    marks_ += ack.ce_packets;
    if (ack.ce_packets > 0) log_->note_call("marked");
    check(now, ack.ce_packets >= 0 && (ack.ce_packets == 0 || (wants_ecn() && !ack.acked.empty())),
          "marks on what may not be marked");
    check(now, marks_ <= static_cast<int64_t>(packets_.size()), "more marks than packets");
  }

  void check_totals(Time now, int64_t delivered_bytes, int64_t declared_lost_bytes) {
    check(now, delivered_bytes == delivered_bytes_ && declared_lost_bytes == lost_bytes_, "other totals");
  }

  [[nodiscard]] bool has_room(const SentPacket& packet) const {
    return packet.inflight_bytes <= std::max(ForwardingController::limits().cwnd_bytes, packet.bytes);
  }

  // Whether the packet may be a probe: it leaves after a silence of at least a round trip, or after the ACK
  // that ended one.
  [[nodiscard]] bool is_probe(Time now) {
    const bool ended_silence = std::exchange(ended_silence_, false);
    return ended_silence || now - last_activity_ >= min_rtt_;
  }

  void note_silence(Time now, Time min_rtt) {
    min_rtt_ = min_rtt;
    ended_silence_ = ended_silence_ || now - last_ack_at_ >= min_rtt;
    last_ack_at_ = last_activity_ = now;
  }

  [[nodiscard]] int64_t bytes_in_flight(int64_t packet_bytes) const {
    return static_cast<int64_t>(in_flight_.size()) * packet_bytes;
  }

  Time last_{};
  mutable unsigned unread_after_call_{0};  // since the last call
  mutable int reads_{0};                   // of the timer, since the last call
  std::string required_call_{};            // the kind of call that has to come next; empty: any
  std::vector<Departure> packets_{};
  int64_t packet_bytes_{0};
  std::set<uint64_t> in_flight_{};
  std::set<uint64_t> lost_{};
  std::set<uint64_t> timed_out_{};
  uint64_t spurious_end_{0};  // only an ACK of an earlier packet may show that the time-out was spurious
  bool was_restarted_{false};
  RttStats rtt_{};  // of the last ACK
  int64_t delivered_bytes_{0};
  int64_t lost_bytes_{0};
  int64_t marks_{0};
  Time last_ack_at_{};
  Time last_activity_{};
  Time min_rtt_{std::chrono::seconds{1}};  // before the first ACK: RFC 6298 (2.1)
  bool ended_silence_{false};
  std::shared_ptr<ContractLog> log_;
};

}  // namespace ccgym
