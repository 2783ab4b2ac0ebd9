// mahimahi in virtual time: flows that share one path, packet by packet.
//
// Links and pipes are first-in-first-out and tick in whole milliseconds; senders wake at any time. At
// equal times links deliver first, then packets arrive, then timers fire, then senders send: the order
// inside a millisecond of the real program. So a millisecond of the network is one event, and the next
// one is the lesser of two: the network's next millisecond and the first sender that wants to be woken.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "envs/twin/ack_lanes.hh"
#include "envs/twin/fifo.hh"
#include "envs/twin/flow.hh"
#include "envs/twin/host_stalls.hh"
#include "envs/twin/link.hh"
#include "envs/twin/path.hh"
#include "envs/twin/random.hh"
#include "envs/twin/tournament.hh"

namespace ccgym {

inline constexpr int64_t kIpUdpHeaderBytes = 28;
inline constexpr int32_t kDataTunBytes =
    static_cast<int32_t>(kDataBytes + kIpUdpHeaderBytes + kTunHeaderBytes);
inline constexpr int32_t kAckTunBytes = static_cast<int32_t>(kAckBytes + kIpUdpHeaderBytes + kTunHeaderBytes);

// What happens at the uplink, for whoever wants to write it down. This one does not.
struct NoObserver {
  void on_arrival(const LinkPacket& /*packet*/, bool /*admitted*/) {}
  void on_departure(const LinkPacket& /*packet*/, int64_t /*now_ms*/) {}
};

template <class Controller, class Observer = NoObserver>
class Twin {
 public:
  using Seat = FlowSeat<Controller>;

  Twin(const PathSpec& path, std::span<const Seat> seats, uint64_t seed, Observer observer = {})
      : uplink_(path.uplink.schedule, path.uplink.queue),
        downlink_(path.downlink.schedule, path.downlink.queue),
        delay_ms_(path.delay_ms),
        uplink_loss_(path.uplink.loss),
        downlink_loss_(path.downlink.loss),
        extra_delays_ms_(distinct_extra_delays(seats)),
        acks_(extra_delays_ms_.size()),
        wake_ups_ns_(seats.size()),
        random_(seed),
        stalls_(path.stall_probability, path.stall_max_ms, random_),
        observer_(std::move(observer)) {
    flows_.reserve(seats.size());
    for (const Seat& seat : seats) {
      const auto lane = std::ranges::lower_bound(extra_delays_ms_, seat.extra_delay_ms);
      wake_ups_ns_.set(flows_.size(), seat.start.count());
      flows_.emplace_back(seat, static_cast<std::size_t>(std::distance(extra_delays_ms_.begin(), lane)));
    }
    ready_.reserve(seats.size());
  }
  Twin(const PathSpec& path, Controller& controller, uint64_t seed, Observer observer = {})
      : Twin(path, std::array{Seat{.controller = &controller}}, seed, std::move(observer)) {}

  // Flies through every event up to `end`. `pauses(flow)` is asked after a flow's timers have fired: a
  // flow that pauses is left alone until `resume`, and when the instant is over `run` returns.
  template <class Pauses>
  void run(Time end, Pauses&& pauses) {
    for (run_ready(pauses); step(end.count(), pauses);) {
    }
    if (paused_ == 0) advance_to(std::max(now_, end));
  }
  void run(Time end) {
    run(end, [](std::size_t) { return false; });
  }

  // The flow's controller has been given a new window or timer from outside.
  void reread(std::size_t flow) {
    flows_[flow].read_controller();
    if (flows_[flow].in_the_air()) make_ready(flow);
  }
  // ... and may go on: the action it paused for.
  void resume(std::size_t flow) {
    if (flows_[flow].resume()) --paused_;
    reread(flow);
  }

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] const Flow<Controller>& flow(std::size_t index) const { return flows_[index]; }
  [[nodiscard]] const Sender<Controller>& sender(std::size_t flow) const { return flows_[flow].sender(); }
  [[nodiscard]] std::size_t queued_packets() const { return uplink_.queued_packets(); }

 private:
  struct HeldAck {
    uint16_t flow{};
    uint64_t seq{};
    int64_t received_ms{};
  };

  static constexpr int64_t kNever = Tournament::kNever;
  static constexpr int64_t kNsPerMs = 1'000'000;

  static int64_t as_ns(int64_t ms) { return ms == kNever ? kNever : ms * kNsPerMs; }
  static int64_t due_ms(const TwinLink& link) { return link.busy() ? link.next_ms() : kNever; }

  static std::vector<int64_t> distinct_extra_delays(std::span<const Seat> seats) {
    std::vector<int64_t> delays_ms;
    for (const Seat& seat : seats) delays_ms.push_back(seat.extra_delay_ms);
    std::ranges::sort(delays_ms);
    delays_ms.erase(std::ranges::unique(delays_ms).begin(), delays_ms.end());
    return delays_ms;
  }

  // All that happens in one instant, if it comes before `end_ns` and nobody waits for an action.
  template <class Pauses>
  bool step(int64_t end_ns, Pauses& pauses) {
    const int64_t network_ms = std::min({due_ms(uplink_), due_ms(downlink_), acks_.next_ms()});
    const int64_t network_ns = as_ns(network_ms);
    const int64_t host_ns = held_acks_.empty() ? kNever : std::max(stalls_.until(), now_).count();
    const int64_t sender_ns = std::min(host_ns, wake_ups_ns_.earliest());
    const int64_t next_ns = std::min(network_ns, sender_ns);
    if (next_ns > end_ns || (paused_ > 0 && next_ns > now_.count())) return false;
    if (network_ns == next_ns) {
      run_network(network_ms);
    } else if (host_ns == next_ns) {
      take_held_acks();
    } else {
      wake(wake_ups_ns_.winner());
    }
    run_ready(pauses);
    return true;
  }

  void advance_to(Time now) {
    now_ = now;
    now_ms_ = now.count() / kNsPerMs;
  }

  void run_network(int64_t ms) {
    now_ = Time{ms * kNsPerMs};
    now_ms_ = ms;
    while (due_ms(uplink_) == ms) {
      uplink_.use_opportunity([this](const LinkPacket& packet, int64_t) { leave_uplink(packet); });
    }
    while (due_ms(downlink_) == ms) {
      downlink_.use_opportunity([this](const LinkPacket& packet, int64_t) { leave_downlink(packet); });
    }
    while (acks_.next_ms() == ms) enter_downlink();
  }

  void leave_uplink(const LinkPacket& packet) {
    observer_.on_departure(packet, now_ms_);
    if (random_.chance(uplink_loss_)) return;
    const Flow<Controller>& flow = flows_[packet.flow];
    const int64_t delay_ms = delay_ms_ + flow.extra_delay_ms();
    const int64_t received_ms = now_ms_ + delay_ms;
    if (random_.chance(downlink_loss_)) return;
    acks_.push(flow.ack_lane(), {received_ms + delay_ms, received_ms, packet.seq, packet.flow});
  }

  void enter_downlink() {
    const AckInFlight ack = acks_.pop();
    downlink_.push({ack.seq, ack.arrival_ms, ack.received_ms, kAckTunBytes, ack.flow});
  }

  void leave_downlink(const LinkPacket& packet) {
    const HeldAck ack{packet.flow, packet.seq, packet.tag};
    if (!held_acks_.empty() || stalls_.stalled(now_, random_)) {
      held_acks_.push(ack);
    } else {
      hear(ack);
    }
  }

  void hear(const HeldAck& ack) {
    Flow<Controller>& flow = flows_[ack.flow];
    if (!flow.in_the_air()) return;
    flow.on_ack(now_, ack.seq, Time{ack.received_ms * kNsPerMs});
    make_ready(ack.flow);
  }

  void take_held_acks() {
    advance_to(std::max(stalls_.until(), now_));
    if (stalls_.stalled(now_, random_)) return;
    while (!held_acks_.empty()) hear(held_acks_.pop());
  }

  // A host that is known to be stalled is not even asked.
  void wake(std::size_t flow) {
    if (wake_ups_ns_.earliest() >= stalls_.until().count()) {
      advance_to(std::max(now_, Time{wake_ups_ns_.earliest()}));
      if (!stalls_.stalled(now_, random_)) return make_ready(flow);
    }
    wake_ups_ns_.set(flow, stalls_.until().count());
  }

  void make_ready(std::size_t flow) {
    if (flows_[flow].get_ready()) ready_.push_back(static_cast<uint32_t>(flow));
  }

  template <class Pauses>
  void run_ready(Pauses& pauses) {
    for (const uint32_t flow : ready_) run_flow(flow, pauses);
    ready_.clear();
  }

  // Timers and packets of one flow, as far as its clock and window allow.
  template <class Pauses>
  void run_flow(std::size_t index, Pauses& pauses) {
    Flow<Controller>& flow = flows_[index];
    flow.run(now_);
    while (flow.state() == FlowState::flying) {
      if (flow.timer_is_due(now_)) {
        flow.on_timer(now_);
        if (pauses(index)) pause(flow);
      } else if (flow.may_send(now_)) {
        send(index);
      } else {
        break;
      }
    }
    wake_ups_ns_.set(index, flow.state() == FlowState::flying ? flow.due_ns(now_) : kNever);
  }

  void pause(Flow<Controller>& flow) {
    flow.pause();
    ++paused_;
  }

  void send(std::size_t index) {
    const LinkPacket packet{flows_[index].on_sent(now_), now_ms_, 0, kDataTunBytes,
                            static_cast<uint16_t>(index)};
    observer_.on_arrival(packet, uplink_.push(packet));
  }

  TwinLink uplink_;
  TwinLink downlink_;
  int64_t delay_ms_;
  double uplink_loss_;
  double downlink_loss_;
  std::vector<int64_t> extra_delays_ms_;  // of the lanes, ascending
  AckLanes acks_;
  std::vector<Flow<Controller>> flows_{};
  Tournament wake_ups_ns_;
  std::vector<uint32_t> ready_{};  // flows that have been woken or have heard an ACK in this instant
  std::size_t paused_{0};
  Fifo<HeldAck> held_acks_{};
  Random random_;
  HostStalls stalls_;
  [[no_unique_address]] Observer observer_;
  Time now_{};
  int64_t now_ms_{0};
};

}  // namespace ccgym
