// One flow of the twin: its sender, its application traffic, its start and stop, and its extra delay.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "envs/twin/packet_label.hh"
#include "transport/sender.hh"
#include "transport/traffic.hh"
#include "transport/wire.hh"

namespace ccgym {

template <class Controller>
struct FlowSlot {
  Controller* controller{};
  Time start{};
  Time stop{Time::max()};
  int64_t extra_delay_ns{0};  // one way, each direction, on top of the path's
  Traffic traffic{};
};

enum class FlowState : uint8_t {
  waiting,  // for its start
  running,
  paused,  // until it is given an action
  gone,
};

// The sender's times are since the start of its flow; all times here are since the start of the path.
template <class Controller>
class Flow {
 public:
  Flow(const FlowSlot<Controller>& slot, uint32_t number, std::size_t ack_lane)
      : sender_(*slot.controller, static_cast<int64_t>(kDataBytes)),
        start_(slot.start),
        stop_(slot.stop),
        extra_delay_ns_(slot.extra_delay_ns),
        traffic_(slot.traffic),
        endless_(slot.traffic.endless()),
        label_(number, slot.controller->wants_ecn()),
        ack_lane_(ack_lane) {}

  [[nodiscard]] FlowState state() const { return state_; }
  [[nodiscard]] bool is_active() const { return state_ == FlowState::running || state_ == FlowState::paused; }
  [[nodiscard]] Time start() const { return start_; }
  [[nodiscard]] int64_t extra_delay_ns() const { return extra_delay_ns_; }
  [[nodiscard]] std::size_t ack_lane() const { return ack_lane_; }
  [[nodiscard]] PacketLabel label() const { return label_; }  // of its data packets when they leave
  [[nodiscard]] const Sender<Controller>& sender() const { return sender_; }

  // Returns false if the flow was marked already and has not run since.
  bool mark_ready() { return !std::exchange(ready_, true); }
  // To be called at an instant for which the flow was marked: starts or ends it if it is time to.
  void begin_instant(Time now) {
    ready_ = false;
    if (state_ == FlowState::waiting) state_ = FlowState::running;
    if ((now >= stop_ || traffic_.finished()) && state_ == FlowState::running) state_ = FlowState::gone;
  }
  void pause() { state_ = FlowState::paused; }
  bool resume() {  // returns false if the flow was not paused
    if (state_ != FlowState::paused) return false;
    state_ = FlowState::running;
    return true;
  }
  void relink(Controller& controller) { sender_.relink(controller); }
  void refresh_limits(Time now) { sender_.refresh_limits(now - start_); }

  [[nodiscard]] bool timer_is_due(Time now) const { return next_timer() <= now - start_; }
  [[nodiscard]] bool may_send(Time now) {
    return next_send(now) <= now - start_ && (endless_ || sender_.owes_probe() || has_data(now));
  }
  void on_timer(Time now) { sender_.on_timer(now - start_); }
  uint64_t on_sent(Time now) { return sender_.on_sent(now - start_); }
  // The label of the receiver's ACK to a data packet with the label `data`.
  PacketLabel echo_of(PacketLabel data) {
    if (data.is_marked()) ++ce_count_;
    return label_.echoing(ce_count_);
  }
  void on_ack(Time now, uint64_t seq, Time received_at, uint16_t ce_count) {
    sender_.on_ack(now - start_, seq, received_at - start_, ce_count);
    if (!endless_) traffic_.on_delivered(now - start_, sender_.delivered_packets());
  }

  // When the flow has to run next, unless an ACK arrives before.
  [[nodiscard]] int64_t next_wake_up_ns(Time now) {
    const Time due = std::min(next_timer(), next_departure(now));
    return due == Time::max() ? stop_.count() : std::min(start_ + due, stop_).count();
  }

  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

 private:
  [[nodiscard]] Time next_timer() const { return sender_.deadline(); }
  [[nodiscard]] Time next_send(Time now) const {
    return sender_.next_send(now - start_).value_or(Time::max());
  }

  [[nodiscard]] Time next_departure(Time now) {
    const Time send = next_send(now);
    if (endless_ || send == Time::max() || sender_.owes_probe() || has_data(now)) return send;
    return traffic_.next_change().value_or(Time::max());
  }

  // Whether there is data to send; if not, the sender is told that it is limited by the application.
  bool has_data(Time now) {
    const int64_t inflight_packets = sender_.inflight_bytes() / static_cast<int64_t>(kDataBytes);
    const bool offers = traffic_.offers(now - start_, sender_.delivered_packets(), inflight_packets);
    if (!offers) sender_.on_app_limited();
    return offers;
  }

  Sender<Controller> sender_;
  Time start_;
  Time stop_;
  int64_t extra_delay_ns_;
  Traffic traffic_;
  bool endless_;
  PacketLabel label_;
  uint16_t ce_count_{0};  // CE-marked packets that the receiver has counted, modulo 2^16
  std::size_t ack_lane_;
  FlowState state_{FlowState::waiting};
  bool ready_{false};
};

}  // namespace ccgym
