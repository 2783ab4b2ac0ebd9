// The sender core: one flow of full-size packets under one controller. It reads no socket and no clock.
//
// The driver reads `next_send` and `next_timer`, sleeps until the earlier one or an ACK, and then calls
// `on_sent`, `on_timer` or `on_ack` with the time `now` since the flow began. A template of the controller's
// class, so that the calls to a final class need no virtual dispatch; `Sender<>` takes a controller of any
// class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/congestion_controller.hh"
#include "transport/loss_detector.hh"
#include "transport/pacer.hh"
#include "transport/packet_ring.hh"
#include "transport/rate_sampler.hh"
#include "transport/restart_pace.hh"
#include "transport/rtt_filter.hh"

namespace ccgym {

// A packet that an ACK says has arrived.
struct Arrival {
  uint64_t seq{};
  std::optional<Time> received_at{};  // receiver's clock; absent if not reported
};

template <class Controller = CongestionController>
class Sender {
 public:
  Sender(Controller& controller, int64_t packet_bytes)
      : controller_(controller), packet_bytes_(packet_bytes) {
    read_controller(Time{});
  }

  // When the next packet may leave, not before `now`; nullopt while the window is closed.
  [[nodiscard]] std::optional<Time> next_send(Time now) const {
    if (owes_probe_) return now;
    if (!window_open_) return std::nullopt;
    return pacer_.next_release(now);
  }

  // Whether a probe packet has to leave, regardless of window, pacer and application, so that its ACK shows
  // what became of the packets before it.
  [[nodiscard]] bool owes_probe() const { return owes_probe_; }

  // Registers one packet of `packet_bytes` and returns its sequence number, from 0.
  uint64_t on_sent(Time now) {
    const bool idle = inflight_packets_ == 0;
    if (idle) end_idle_time(now);
    owes_probe_ = false;
    last_activity_ = now;
    const uint64_t seq = ring_.next_seq();
    PacketRecord& record = ring_.push(losses_.oldest_in_flight());
    ++inflight_packets_;
    record.sent_at = now;
    record.rate_mark = sampler_.on_sent(now, idle);
    record.state = PacketState::in_flight;
    record.inflight_packets = static_cast<uint32_t>(inflight_packets_);
    record.lost_packets = declared_lost_packets_;
    pacer_.on_sent(now, packet_bytes_);
    controller_.get().on_sent(now, {seq, packet_bytes_, inflight_bytes(), rtt_.stats().smoothed});
    refresh_limits(now);
    if (!window_open_) {
      limited_by_ = Limit::window;
    } else if (pacer_.next_release(now) > now) {
      limited_by_ = Limit::pacing;
    }
    return seq;
  }

  // An ACK of several packets, in the order they were sent. Sequence numbers that were acknowledged before,
  // were never sent or are too old are ignored. `ce_count`: the number of CE-marked packets that the receiver
  // has counted in this flow, modulo 2^16.
  void on_ack(Time now, std::span<const Arrival> arrivals, uint16_t ce_count = 0) {
    acked_.clear();
    for (const Arrival& arrival : arrivals) {
      if (is_unacknowledged(arrival.seq)) acked_.push_back(take(now, arrival));
    }
    if (!acked_.empty()) process_ack(now, acked_, ce_count);
  }
  // An ACK of one packet, which is the usual case.
  void on_ack(Time now, uint64_t seq, std::optional<Time> received_at, uint16_t ce_count = 0) {
    if (!is_unacknowledged(seq)) return;
    const AckedPacket packet = take(now, {seq, received_at});
    process_ack(now, std::span{&packet, 1}, ce_count);
  }

  // Earliest deadline of the controller, the loss detector and the probe timer.
  [[nodiscard]] std::optional<Time> next_timer() const {
    return timer_ == Time::max() ? std::nullopt : std::optional{timer_};
  }
  [[nodiscard]] Time deadline() const { return timer_; }  // the same; Time::max() while there is none

  void on_timer(Time now) {
    if (controller_timer_ <= now) {
      controller_.get().on_timer(now, {.inflight_bytes = inflight_bytes(), .rtt = rtt_.stats()});
      read_controller(now);
    }
    if (losses_.deadline() <= now) find_overdue(now);
    if (probe_at() <= now) probe(now);
    update_window_open(now);
    set_timer();
  }

  // The application had no data for a packet that might have left.
  void on_app_limited() {
    limited_by_ = Limit::application;
    mark_app_limited();
  }

  // Reads the limits and the timer of the controller again. To be called by a driver that has changed the
  // controller between two callbacks.
  void refresh_limits(Time now) {
    read_controller(now);
    update_window_open(now);
  }

  // Makes a copy of a sender use `controller`, a copy of the original's controller.
  void relink(Controller& controller) { controller_ = controller; }

  [[nodiscard]] int64_t inflight_bytes() const { return inflight_packets_ * packet_bytes_; }
  [[nodiscard]] const RttStats& rtt() const { return rtt_.stats(); }
  [[nodiscard]] int64_t delivered_bytes() const { return sampler_.delivered_bytes(); }
  [[nodiscard]] int64_t sent_packets() const { return static_cast<int64_t>(ring_.next_seq()); }
  [[nodiscard]] int64_t delivered_packets() const { return sampler_.delivered_bytes() / packet_bytes_; }
  [[nodiscard]] int64_t lost_packets() const { return declared_lost_packets_ - late_packets_; }
  [[nodiscard]] int64_t ce_packets() const { return ce_packets_; }

 private:
  // Probes without an ACK before the time-out, after RFC 9002's kPersistentCongestionThreshold: see probe().
  static constexpr int kMaxSilentProbes = 2;
  static constexpr int kMaxBackoff = 6;  // doublings of the probe time-out

  [[nodiscard]] bool window_has_room() const {
    const bool silence = silent_probes_ > kMaxSilentProbes;
    const int64_t window = silence ? packet_bytes_ : std::max(cwnd_bytes_, packet_bytes_);
    return (inflight_packets_ + 1) * packet_bytes_ <= window;
  }

  void read_controller(Time now) {
    const SendLimits limits = controller_.get().limits();
    cwnd_bytes_ = limits.cwnd_bytes;
    holds_back_ = limits.holds_back;
    ack_clocked_ = limits.ack_clocked;
    // Two calls of set_rate, because a conditional expression would copy the controller's rate for every
    // packet.
    if (restart_pace_.is_over(now)) [[likely]] {
      pacer_.set_rate(now, limits.pacing_rate);
    } else {
      pacer_.set_rate(now, restart_pace_.rate(now, ring_.next_seq(), limits.pacing_rate));
    }
    controller_timer_ = controller_.get().next_timer().value_or(Time::max());
    set_timer();
  }

  void set_timer() { timer_ = std::min({controller_timer_, losses_.deadline(), probe_at()}); }

  void update_window_open(Time now) {
    const bool was_open = std::exchange(window_open_, window_has_room());
    if (window_open_ && !was_open && !ack_clocked_) pacer_.on_window_opened(now);
  }

  void mark_app_limited() {
    sampler_.on_app_limited(std::max<int64_t>(inflight_packets_, 1) * packet_bytes_);
  }

  void end_idle_time(Time now) {
    if (limited_by_ != Limit::application || silent_probes_ > 0 || ring_.next_seq() == 0) return;
    const Time idle = now - last_activity_;
    if (idle > rtt_.probe_timeout())
      restart_pace_.begin(now, ring_.next_seq(), cwnd_bytes_, rtt_.stats().smoothed);
    controller_.get().on_restart(now, idle);
  }

  // Whether this is the first ACK of a packet whose record still exists.
  [[nodiscard]] bool is_unacknowledged(uint64_t seq) const {
    return ring_.holds(seq) && ring_[seq].state != PacketState::delivered;
  }

  // Counts an acknowledged packet as delivered; returns what the controller is told about it.
  AckedPacket take(Time now, const Arrival& arrival) {
    PacketRecord& record = ring_[arrival.seq];
    mark_delivered(now, arrival.seq, record);
    sampler_.on_delivered(packet_bytes_);
    return {.seq = arrival.seq,
            .bytes = packet_bytes_,
            .sent_at = record.sent_at,
            .received_at = arrival.received_at,
            .inflight_bytes_at_departure = record.inflight_packets * packet_bytes_,
            .lost_bytes_at_departure = record.lost_packets * packet_bytes_,
            .delivered_bytes_at_departure = record.rate_mark.delivered_bytes};
  }

  // Processes an ACK whose packets have been counted as delivered by `take`.
  void process_ack(Time now, std::span<const AckedPacket> acked, uint16_t ce_count) {
    timed_out_end_ = 0;  // only the first ACK after a time-out decides whether it was spurious
    const AckedPacket& newest = acked.back();
    rtt_.add(now - newest.sent_at);
    end_silence(newest.seq);
    last_activity_ = now;
    losses_.on_delivered(newest.seq);
    const RateSample rate = sampler_.sample(now, newest.sent_at, ring_[newest.seq].rate_mark);
    detect_losses(now);
    report_ack(now, acked, rate, count_ce_marks(ce_count));
    if (holds_back_) mark_app_limited();
    update_window_open(now);
  }

  // RFC 5682, section 2.1, step 2b: after the ACK that ends a silence a probe is sent, whose own ACK shows
  // what became of the other packets in flight. These packets may fill the window, and the next probe
  // time-out is long, because it is computed from this late ACK: without the probe, a flow whose burst met a
  // full queue would be silent for seconds more.
  void end_silence(uint64_t acked_seq) {
    const bool others_are_out = acked_seq + 1 < ring_.next_seq();
    owes_probe_ = others_are_out && (owes_probe_ || silent_probes_ > 0);
    silent_probes_ = 0;
  }

  // Marks a packet as delivered. If it had been declared lost, the spurious loss is reported.
  void mark_delivered(Time now, uint64_t seq, PacketRecord& record) {
    const PacketState was = std::exchange(record.state, PacketState::delivered);
    if (was != PacketState::in_flight) return take_late_packet(now, seq, was, record.sent_at);
    --inflight_packets_;
  }

  // Functions for rare cases are not inlined: inline, they would take registers from the code that runs for
  // every packet.
  [[gnu::noinline]] void take_late_packet(Time now, uint64_t seq, PacketState was, Time sent_at) {
    ++late_packets_;
    const bool timeout = was == PacketState::timed_out && seq < timed_out_end_;
    if (timeout) revive_after(seq);
    if (was == PacketState::lost) losses_.on_spurious_loss(seq, now - sent_at, rtt_.stats());
    controller_.get().on_spurious_loss(now, {seq, packet_bytes_, sent_at, timeout});
    if (timeout) timed_out_end_ = 0;
  }

  // RFC 5682, section 3.1, step 3 (B): the ACK of a packet sent before the first time-out shows that the
  // time-outs were spurious. A single ACK is enough, because no sequence number is sent twice, so that it is
  // not the ACK of a retransmission.
  void revive_after(uint64_t seq) {
    const int64_t revived = losses_.undo_timeout(seq, ring_);
    late_packets_ += revived;
    inflight_packets_ += revived;
  }

  void detect_losses(Time now) {
    lost_.clear();
    losses_.detect(now, rtt_.stats(), ring_, packet_bytes_, lost_);
    count_lost();
  }

  void count_lost() {
    if (lost_.empty()) return;
    const auto count = static_cast<int64_t>(lost_.size());
    declared_lost_packets_ += count;
    inflight_packets_ -= count;
  }

  // The number of newly reported CE marks; 0 if the ACK is older than one that was processed before.
  int64_t count_ce_marks(uint16_t ce_count) {
    const auto more = static_cast<int16_t>(ce_count - static_cast<uint16_t>(ce_packets_));
    if (more <= 0) return 0;
    ce_packets_ += more;
    return more;
  }

  void report_ack(Time now, std::span<const AckedPacket> acked, const RateSample& rate, int64_t ce_packets) {
    controller_.get().on_ack(now, {.acked = acked,
                                   .lost = lost_,
                                   .inflight_bytes = inflight_bytes(),
                                   .delivered_bytes = sampler_.delivered_bytes(),
                                   .declared_lost_bytes = declared_lost_packets_ * packet_bytes_,
                                   .next_seq = ring_.next_seq(),
                                   .rtt = rtt_.stats(),
                                   .rate = rate,
                                   .ce_packets = ce_packets,
                                   .limited_by = limited_by_});
    read_controller(now);
  }

  [[gnu::noinline]] void find_overdue(Time now) {
    detect_losses(now);
    if (!lost_.empty()) report_ack(now, {}, {}, 0);
  }

  // RFC 9002, section 6.2.4: after a probe time-out without an ACK a probe is sent, and the time-out doubles.
  // If there is no ACK after two probes, which takes 1 + 2 + 4 probe time-outs, that is persistent congestion
  // (section 7.6, which however waits for the next ACK to declare it), and all packets in flight are given
  // up.
  void probe(Time now) {
    ++silent_probes_;
    if (silent_probes_ > kMaxSilentProbes) return time_out(now);
    owes_probe_ = true;
  }

  [[gnu::noinline]] void time_out(Time now) {
    if (silent_probes_ == kMaxSilentProbes + 1) timed_out_end_ = ring_.next_seq();
    lost_.clear();
    losses_.time_out(ring_, packet_bytes_, lost_);
    count_lost();
    controller_.get().on_timeout(now, {.lost = lost_,
                                       .delivered_bytes = sampler_.delivered_bytes(),
                                       .declared_lost_bytes = declared_lost_packets_ * packet_bytes_,
                                       .next_seq = ring_.next_seq(),
                                       .rtt = rtt_.stats()});
    read_controller(now);
  }

  [[nodiscard]] Time probe_at() const {
    if (inflight_packets_ == 0 || owes_probe_) return Time::max();
    return last_activity_ + rtt_.probe_timeout() * (1 << std::min(silent_probes_, kMaxBackoff));
  }

  std::reference_wrapper<Controller> controller_;
  int64_t packet_bytes_;
  RttFilter rtt_{};
  RateSampler sampler_{};
  Pacer pacer_{};
  RestartPace restart_pace_{};
  PacketRing ring_{};
  LossDetector losses_{};
  std::vector<AckedPacket> acked_{};  // of the present ACK, if it is one of several packets
  std::vector<LostPacket> lost_{};    // of the present event
  int64_t cwnd_bytes_{0};
  Time controller_timer_{Time::max()};
  Time timer_{Time::max()};  // the earliest of all deadlines
  Time last_activity_{};     // when the last packet left or the last ACK arrived
  int silent_probes_{0};     // probe time-outs since the last ACK; above kMaxSilentProbes cwnd is one packet
  bool holds_back_{false};
  bool ack_clocked_{false};
  bool owes_probe_{false};
  bool window_open_{true};  // result of window_has_room(), kept because it is read more often than it changes
  Limit limited_by_{Limit::window};
  uint64_t timed_out_end_{0};  // one past the last packet sent before the first time-out since the last ACK
  int64_t inflight_packets_{0};
  int64_t declared_lost_packets_{0};
  int64_t ce_packets_{0};
  int64_t late_packets_{0};  // packets declared lost that have arrived after all, or are in flight again
};

}  // namespace ccgym
