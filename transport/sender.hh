// The sender core: one flow of full-size packets under one controller. No socket, no clock.
//
// The driver asks `next_send` and `next_timer`, sleeps until the earlier one or an ACK, and reports
// what happened with `now`. Templated on the controller so that hot ones are called directly;
// `Sender<>` takes any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "transport/congestion_controller.hh"
#include "transport/loss_detector.hh"
#include "transport/pacer.hh"
#include "transport/packet_ring.hh"
#include "transport/rate_sampler.hh"
#include "transport/rtt_filter.hh"

namespace ccgym {

template <class Controller = CongestionController>
class Sender {
 public:
  Sender(Controller& controller, int64_t packet_bytes)
      : controller_(controller), packet_bytes_(packet_bytes) {
    read_controller();
  }

  // When the next packet may leave, `now` or later; nullopt while the window is closed.
  [[nodiscard]] std::optional<Time> next_send(Time now) const {
    if (!window_is_open()) return std::nullopt;
    return pacer_.next_release(now);
  }

  // Registers one packet of `packet_bytes` and returns its sequence number, from 0.
  uint64_t on_sent(Time now) {
    if (inflight_bytes_ == 0) timeout_base_ = now;
    const uint64_t seq = ring_.next_seq();
    PacketRecord& record = ring_.push(losses_.oldest_in_flight());
    record.sent_at = now;
    record.rate_mark = sampler_.on_sent(now, inflight_bytes_ == 0);
    record.state = PacketState::in_flight;
    inflight_bytes_ += packet_bytes_;
    pacer_.on_sent(now, packet_bytes_, limits_.pacing_mbps);
    controller_.on_sent(now, {seq, packet_bytes_, inflight_bytes_});
    settle_down(now);
    return seq;
  }

  // One acknowledged packet; a duplicate, or a number that was never sent or is long gone, is ignored.
  void on_ack(Time now, uint64_t seq, Time received_at) {
    if (!ring_.holds(seq) || ring_[seq].state == PacketState::delivered) return;
    settle(now, seq);
    const PacketRecord& record = ring_[seq];
    rtt_.add(now - record.sent_at);
    probing_ = false;
    backoff_ = 1;
    timeout_base_ = now;
    losses_.on_delivered(seq);
    const RateSample rate = sampler_.on_delivered(now, packet_bytes_, record.sent_at, record.rate_mark);
    report_losses(now);
    controller_.on_ack(now, {.seq = seq,
                             .bytes = packet_bytes_,
                             .sent_at = record.sent_at,
                             .received_at = received_at,
                             .inflight_bytes = inflight_bytes_,
                             .delivered_bytes = sampler_.delivered_bytes(),
                             .bytes_sent_since = bytes_sent_since(seq),
                             .rtt = rtt_.stats(),
                             .rate = rate});
    settle_down(now);
  }

  // Earliest deadline of the controller, the loss detector and the retransmission timer.
  [[nodiscard]] std::optional<Time> next_timer() const {
    return timer_ == Time::max() ? std::nullopt : std::optional{timer_};
  }

  void on_timer(Time now) {
    if (controller_timer_ <= now) {
      controller_.on_timer(now);
      read_controller();
    }
    if (losses_.deadline() <= now) report_losses(now);
    if (timeout_at() <= now) time_out(now);
    note_window(now);
    set_timer();
  }

  // The application had nothing for a packet that might have left.
  void on_app_limited() { sampler_.on_app_limited(inflight_bytes_); }

  // Reads what the controller wants now, and draws the consequences: after every callback, and for a driver
  // that has given the controller a new window or timer between two.
  void settle_down(Time now) {
    read_controller();
    note_window(now);
  }

  [[nodiscard]] int64_t inflight_bytes() const { return inflight_bytes_; }
  [[nodiscard]] const RttStats& rtt() const { return rtt_.stats(); }
  [[nodiscard]] int64_t delivered_bytes() const { return sampler_.delivered_bytes(); }
  [[nodiscard]] int64_t sent_packets() const { return static_cast<int64_t>(ring_.next_seq()); }
  [[nodiscard]] int64_t delivered_packets() const { return sampler_.delivered_bytes() / packet_bytes_; }
  [[nodiscard]] int64_t lost_packets() const { return lost_packets_; }

 private:
  static constexpr int64_t kMaxBackoff = 64;

  [[nodiscard]] bool window_is_open() const {
    const int64_t window = probing_ ? packet_bytes_ : std::max(limits_.cwnd_bytes, packet_bytes_);
    return inflight_bytes_ + packet_bytes_ <= window;
  }

  void read_controller() {
    limits_ = controller_.limits();
    controller_timer_ = controller_.next_timer().value_or(Time::max());
    set_timer();
  }

  void set_timer() { timer_ = std::min({controller_timer_, losses_.deadline(), timeout_at()}); }

  // From the departure of packet `seq` on, itself included.
  [[nodiscard]] int64_t bytes_sent_since(uint64_t seq) const {
    return static_cast<int64_t>(ring_.next_seq() - seq) * packet_bytes_;
  }

  void note_window(Time now) {
    const bool was_open = std::exchange(window_was_open_, window_is_open());
    if (window_was_open_ && !was_open) pacer_.on_window_opened(now);
  }

  // Takes a packet out of flight; one that was given up comes back to life first.
  void settle(Time now, uint64_t seq) {
    PacketRecord& record = ring_[seq];
    if (record.state == PacketState::in_flight) {
      inflight_bytes_ -= packet_bytes_;
    } else {
      --lost_packets_;
      if (record.state == PacketState::timed_out) undo_timeout(now, seq);
    }
    record.state = PacketState::delivered;
  }

  // RFC 5682, section 3.1, step 3 (B): an ACK of what was sent before the first of the time-outs shows them
  // spurious. It decides at once: nothing is sent twice, so it can be no ACK of a second copy.
  void undo_timeout(Time now, uint64_t seq) {
    const int64_t revived = losses_.undo_timeout(seq, ring_);
    lost_packets_ -= revived;
    inflight_bytes_ += revived * packet_bytes_;
    if (seq < timed_out_end_) controller_.on_spurious_timeout(now);
  }

  void report_losses(Time now) {
    lost_.clear();
    losses_.detect(now, rtt_.stats(), ring_, packet_bytes_, lost_);
    report(now, false);
  }

  // RFC 6298 (5.4)-(5.6): presume all lost, send one packet, double the time-out.
  void time_out(Time now) {
    if (!probing_) timed_out_end_ = ring_.next_seq();
    lost_.clear();
    losses_.time_out(ring_, packet_bytes_, lost_);
    probing_ = true;
    backoff_ = std::min(2 * backoff_, kMaxBackoff);
    report(now, true);
  }

  void report(Time now, bool timeout) {
    if (lost_.empty()) return;
    const auto count = static_cast<int64_t>(lost_.size());
    lost_packets_ += count;
    inflight_bytes_ -= count * packet_bytes_;
    controller_.on_loss(now, {lost_, inflight_bytes_, timeout});
    read_controller();
  }

  [[nodiscard]] Time timeout_at() const {
    return inflight_bytes_ == 0 ? Time::max() : timeout_base_ + backoff_ * rtt_.timeout();
  }

  Controller& controller_;
  int64_t packet_bytes_;
  RttFilter rtt_{};
  RateSampler sampler_{};
  Pacer pacer_{};
  PacketRing ring_{};
  LossDetector losses_{};
  std::vector<LostPacket> lost_{};
  SendLimits limits_{};
  Time controller_timer_{Time::max()};
  Time timer_{Time::max()};  // the earliest of all deadlines
  Time timeout_base_{};
  int64_t backoff_{1};
  bool window_was_open_{true};
  bool probing_{false};        // after a time-out one packet at a time, until an ACK returns
  uint64_t timed_out_end_{0};  // first packet that left after the first time-out without an ACK since
  int64_t inflight_bytes_{0};
  int64_t lost_packets_{0};
};

}  // namespace ccgym
