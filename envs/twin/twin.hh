// mahimahi in virtual time: flows that share one path, packet by packet.
//
// Links and delays are FIFOs, so that no event heap is needed. A departure that follows from the arrivals so
// far is computed on arrival. At equal times links deliver first, then packets arrive, then timers fire, then
// senders send, as inside a millisecond of the real program. All events of one instant are processed
// together. The next instant is the earlier of two: the network's next event, and the wake-up of the first
// sender.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "envs/twin/ack_path.hh"
#include "envs/twin/cross_source.hh"
#include "envs/twin/direction.hh"
#include "envs/twin/droptail_link.hh"
#include "envs/twin/fifo.hh"
#include "envs/twin/flow.hh"
#include "envs/twin/host_jitter.hh"
#include "envs/twin/packet_sizes.hh"
#include "envs/twin/path.hh"
#include "envs/twin/tournament.hh"
#include "transport/congestion_controller.hh"
#include "transport/random.hh"

// The whole life of a packet is inlined into one function; with sanitizers that would take minutes to
// compile.
#ifdef __SANITIZE_ADDRESS__
#define CCGYM_HOT_LOOP
#else
#define CCGYM_HOT_LOOP [[gnu::hot, gnu::flatten]]
#endif

namespace ccgym {

// The interface of an observer of the uplink, which is called for every packet of the flows. The packet's tag
// is the time in ns at which it was sent; `received_ns` is kNeverNs if it is lost behind the uplink. This
// observer records nothing (kObserves), so that the twin may compute departures ahead.
struct NoObserver {
  static constexpr bool kObserves = false;
  void on_arrival(const LinkPacket& /*packet*/) {}
  void on_departure(const LinkPacket& /*packet*/, int64_t /*now_ns*/, int64_t /*received_ns*/) {}
};

template <class Controller, class Observer = NoObserver>
class Twin {
 public:
  using Slot = FlowSlot<Controller>;

  Twin(const PathSpec& path, std::span<const Slot> slots, uint64_t seed, Observer observer = {})
      : uplink_(path, Way::up, seed),
        cross_(path.cross_traffic, path.timing),
        extra_delays_ns_(distinct_extra_delays(slots)),
        acks_(path, extra_delays_ns_.size(), ~seed),
        wake_ups_ns_(slots.size()),
        random_(seed),
        jitter_(path.stall_probability, path.stall_max_ms, random_),
        observer_(std::move(observer)) {
    if (can_precompute(path.uplink.queue))
      droptail_link_.emplace(path.uplink.schedule, path.uplink.queue, path.timing);
    flows_.reserve(slots.size());
    for (const Slot& slot : slots) {
      const auto lane = std::ranges::lower_bound(extra_delays_ns_, slot.extra_delay_ns);
      wake_ups_ns_.set(flows_.size(), slot.start.count());
      flows_.emplace_back(slot, static_cast<uint32_t>(flows_.size()),
                          static_cast<std::size_t>(std::distance(extra_delays_ns_.begin(), lane)));
    }
    ready_.resize(slots.size());
  }
  Twin(const PathSpec& path, Controller& controller, uint64_t seed, Observer observer = {})
      : Twin(path, std::array{Slot{.controller = &controller}}, seed, std::move(observer)) {}

  // Runs all events up to `end`. `pauses(flow)` is called after each timer of a flow. If it returns true, the
  // flow does not run until `resume`, and `run` returns after the events of this instant. It is called once
  // more when a flow has ended: if it then returns true, the time of the path does not advance any further.
  template <class Pauses>
  CCGYM_HOT_LOOP void run(Time end, Pauses&& pauses) {
    do {
      run_ready(pauses);
    } while (step(end.count()));
    if (paused_ == 0) now_ = std::max(now_, end);
  }
  void run(Time end);

  // To be called after the window or the timer of the flow's controller was changed from outside.
  void reread(std::size_t flow) {
    flows_[flow].refresh_limits(now_);
    if (flows_[flow].is_active()) make_ready(flow);
  }
  // Continues a paused flow, whose controller has been given its action.
  void resume(std::size_t flow) {
    if (flows_[flow].resume()) --paused_;
    reread(flow);
  }

  // Points a copy of the twin at copies of the controllers, one for each flow.
  void relink(std::span<Controller* const> controllers) {
    for (std::size_t i = 0; i < flows_.size(); ++i) flows_[i].relink(*controllers[i]);
  }

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] const Flow<Controller>& flow(std::size_t index) const { return flows_[index]; }
  [[nodiscard]] const Sender<Controller>& sender(std::size_t flow) const { return flows_[flow].sender(); }
  [[nodiscard]] std::size_t queued_packets() {
    return droptail_link_ ? droptail_link_->queued_packets(now_.count()) : uplink_.link.queued_packets();
  }

 private:
  struct DataInFlight {
    int64_t arrival_ns{};  // at the uplink
    int64_t sent_ns{};
    uint64_t seq{};
    PacketLabel label{};
  };
  struct HeldAck {
    uint64_t seq{};
    int64_t received_ns{};
    PacketLabel label{};
  };

  template <class Packet>
  static int64_t due_ns(const Fifo<Packet>& pipe) {
    return pipe.empty() ? kNeverNs : pipe.front().arrival_ns;
  }

  static std::vector<int64_t> distinct_extra_delays(std::span<const Slot> slots) {
    std::vector<int64_t> delays_ns;
    for (const Slot& slot : slots) delays_ns.push_back(slot.extra_delay_ns);
    std::ranges::sort(delays_ns);
    delays_ns.erase(std::unique(delays_ns.begin(), delays_ns.end()), delays_ns.end());
    return delays_ns;
  }

  // Whether departures may be computed on arrival: the queue decides on arrival whether a packet stays, no
  // observer needs the events in the order of time, and no random number is drawn between queue and ACK.
  [[nodiscard]] bool can_precompute(const QueueSpec& queue) const {
    return !Observer::kObserves && DroptailLink::serves(queue) && !uplink_.draws_behind() && !acks_.draws();
  }

  // Processes the next event: of the network, of held ACKs, or the wake-up of a flow. Returns false if it is
  // after `end_ns`, or if a flow waits for an action and it is later than now.
  bool step(int64_t end_ns) {
    const int64_t network_ns =
        std::min({uplink_.link.next_ns(), cross_.next_ns(), due_ns(data_), acks_.next_ns()});
    const int64_t host_ns = held_acks_.empty() ? kNeverNs : std::max(jitter_.until(), now_).count();
    const int64_t next_ns = std::min({network_ns, host_ns, wake_ups_ns_.earliest()});
    if (next_ns > end_ns || (paused_ > 0 && next_ns > now_.count())) return false;
    if (network_ns == next_ns) {
      run_network(network_ns);
    } else if (host_ns == next_ns) {
      take_held_acks();
    } else {
      wake(wake_ups_ns_.winner());
    }
    return true;
  }

  void run_network(int64_t ns) {
    now_ = Time{ns};
    while (uplink_.link.next_ns() == ns) {
      uplink_.link.use_opportunity(
          [this](const LinkPacket& packet, int64_t now_ns) { leave_uplink(packet, now_ns); },
          IgnoreDropped{});
    }
    while (cross_.next_ns() == ns) enter_link({0, ns, 0, cross_.take(), kCrossTraffic});
    while (due_ns(data_) == ns) enter_uplink(data_.pop());
    acks_.run(ns, random_, [this](const AckInFlight& ack) { take_ack(ack); });
  }

  void send(Flow<Controller>& flow) {
    const uint64_t seq = flow.on_sent(now_);
    const int64_t sent_ns = uplink_.clock(now_.count());
    const int64_t reached_ns = uplink_.reach_link(sent_ns, random_);
    if (reached_ns == kNeverNs) return;
    const DataInFlight data{reached_ns, sent_ns, seq, flow.label()};
    if (reached_ns > now_.count()) return data_.push(data);
    enter_uplink(data);
  }

  void enter_uplink(const DataInFlight& data) {
    const LinkPacket packet{data.seq, data.arrival_ns, data.sent_ns, kDataTunBytes, data.label};
    observer_.on_arrival(packet);
    enter_link(packet);
  }

  void enter_link(const LinkPacket& packet) {
    if (!droptail_link_) return uplink_.link.push(packet, IgnoreDropped{});
    const int64_t left_ns = droptail_link_->push(packet.arrival_ns, packet.bytes);
    if (left_ns != kNeverNs) leave_uplink(packet, left_ns);
  }

  // A flow's extra delay is added at its receiver, where the flow is alone.
  void leave_uplink(const LinkPacket& packet, int64_t now_ns) {
    if (packet.label.flow() == kCrossTraffic) return;
    const int64_t received_ns = uplink_.reach_end(now_ns, random_);
    observer_.on_departure(packet, now_ns, received_ns);
    if (received_ns == kNeverNs) return;
    Flow<Controller>& flow = flows_[packet.label.flow()];
    const AckInFlight ack{.received_ns = received_ns, .seq = packet.seq, .label = flow.echo_of(packet.label)};
    acks_.send(flow.ack_lane(), ack, flow.extra_delay_ns(), random_);
  }

  void take_ack(const AckInFlight& ack) {
    const HeldAck held{ack.seq, ack.received_ns, ack.label};
    if (!held_acks_.empty() || jitter_.stalled(now_, random_)) return held_acks_.push(held);
    process_ack(held);
  }

  void process_ack(const HeldAck& ack) {
    Flow<Controller>& flow = flows_[ack.label.flow()];
    if (!flow.is_active()) return;
    flow.on_ack(now_, ack.seq, Time{ack.received_ns}, ack.label.ce_count());
    make_ready(ack.label.flow());
  }

  void take_held_acks() {
    now_ = std::max(jitter_.until(), now_);
    if (jitter_.stalled(now_, random_)) return;
    while (!held_acks_.empty()) process_ack(held_acks_.pop());
  }

  // While the host stalls, none of its flows runs: the wake-up is postponed to the end of the stall.
  void wake(std::size_t flow) {
    if (wake_ups_ns_.earliest() >= jitter_.until().count()) {
      now_ = std::max(now_, Time{wake_ups_ns_.earliest()});
      if (!jitter_.stalled(now_, random_)) return make_ready(flow);
    }
    wake_ups_ns_.set(flow, jitter_.until().count());
  }

  void make_ready(std::size_t flow) {
    if (flows_[flow].mark_ready()) ready_[ready_flows_++] = static_cast<uint32_t>(flow);
  }

  template <class Pauses>
  void run_ready(Pauses& pauses) {
    for (std::size_t i = 0; i < ready_flows_; ++i) run_flow(ready_[i], pauses);
    ready_flows_ = 0;
  }

  // Fires the timers of one flow and sends its packets, as far as its clock and window allow.
  template <class Pauses>
  void run_flow(std::size_t index, Pauses& pauses) {
    Flow<Controller>& flow = flows_[index];
    flow.begin_instant(now_);
    while (flow.state() == FlowState::running) {
      if (flow.timer_is_due(now_)) {
        flow.on_timer(now_);
        if (pauses(index)) pause(flow);
      } else if (flow.may_send(now_)) {
        send(flow);
      } else {
        break;
      }
    }
    if (flow.state() == FlowState::running) return wake_ups_ns_.set(index, flow.next_wake_up_ns(now_));
    wake_ups_ns_.set(index, kNeverNs);
    if (flow.state() == FlowState::gone && pauses(index)) ++paused_;
  }

  void pause(Flow<Controller>& flow) {
    flow.pause();
    ++paused_;
  }

  static constexpr uint32_t kCrossTraffic = UINT32_MAX;  // flow number of cross traffic

  Direction uplink_;
  std::optional<DroptailLink> droptail_link_{};  // if present, used instead of the uplink's own link
  CrossSources cross_;
  Fifo<DataInFlight> data_{};             // data packets in a delay before the uplink
  std::vector<int64_t> extra_delays_ns_;  // of the lanes, ascending
  AckPath acks_;
  std::vector<Flow<Controller>> flows_{};
  Tournament wake_ups_ns_;
  std::vector<uint32_t>
      ready_{};  // first ready_flows_ entries: flows woken, or given an ACK, at this instant
  std::size_t ready_flows_{0};
  std::size_t paused_{0};
  Fifo<HeldAck> held_acks_{};
  Random random_;
  HostJitter jitter_;
  [[no_unique_address]] Observer observer_;
  Time now_{};
};

// Not inline, so that the loop is compiled only where the template is not declared `extern`.
template <class Controller, class Observer>
void Twin<Controller, Observer>::run(Time end) {
  run(end, [](std::size_t) { return false; });
}

extern template class Twin<CongestionController>;

}  // namespace ccgym
