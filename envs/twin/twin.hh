// mahimahi in virtual time: one flow over one path, packet by packet.
//
// Every element is a first-in-first-out line, so the next event is the least of a handful of times and
// no event heap is needed. At equal times links deliver first, then packets arrive, then timers fire,
// then the sender sends: the order inside a millisecond of the real program.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "envs/twin/direction.hh"
#include "envs/twin/fifo.hh"
#include "envs/twin/path.hh"
#include "envs/twin/random.hh"
#include "transport/sender.hh"
#include "transport/wire.hh"

namespace ccgym {

inline constexpr int64_t kIpUdpHeaderBytes = 28;
inline constexpr int32_t kDataTunBytes =
    static_cast<int32_t>(kDataBytes + kIpUdpHeaderBytes + kTunHeaderBytes);
inline constexpr int32_t kAckTunBytes = static_cast<int32_t>(kAckBytes + kIpUdpHeaderBytes + kTunHeaderBytes);

// What happens at the uplink, for whoever wants to write it down.
class UplinkObserver {
 public:
  virtual ~UplinkObserver() = default;
  virtual void on_arrival(const LinkPacket& packet) = 0;
  virtual void on_departure(const LinkPacket& packet, int64_t now_ns) = 0;
};

template <class Controller>
class Twin {
 public:
  Twin(const PathSpec& path, Controller& controller, uint64_t seed, UplinkObserver* observer = nullptr)
      : controller_(controller),
        sender_(controller, static_cast<int64_t>(kDataBytes)),
        uplink_(path, Way::up, seed),
        downlink_(path, Way::down, ~seed),
        stall_mean_gap_ms_(path.stall_probability > 0 ? 1 / path.stall_probability : 0),
        stall_max_ms_(path.stall_max_ms),
        random_(seed),
        observer_(observer) {
    if (stall_mean_gap_ms_ > 0) next_stall_ = to_time(random_.exponential(stall_mean_gap_ms_));
  }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;
  ~Twin() = default;

  // Flies until `stop()` holds after an event, or until nothing more happens before `end`.
  template <class Stop>
  void run(Time end, Stop&& stop) {
    while (step(end)) {
      if (stop()) return;
    }
    now_ = std::max(now_, end);
  }

  // The controller has been given a new window or timer from outside, as the gym's actions are.
  void controller_changed() { sender_.read_controller(); }

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] const Sender<Controller>& sender() const { return sender_; }
  [[nodiscard]] std::size_t queued_packets() const { return uplink_.link.queued_packets(); }

 private:
  struct DataInFlight {
    int64_t arrival_ns{};  // at the uplink
    uint64_t seq{};
  };
  struct AckInFlight {
    int64_t arrival_ns{};  // at the downlink, or at the sender
    uint64_t seq{};
    int64_t received_ns{};
  };
  struct HeldAck {
    uint64_t seq{};
    int64_t received_ns{};
  };

  static Time to_time(double ms) { return Time{static_cast<int64_t>(ms * 1e6)}; }

  // One event, if there is one before `end`.
  bool step(Time end) {
    const int64_t uplink_ns = uplink_.link.busy() ? uplink_.link.next_ns() : kNeverNs;
    const int64_t downlink_ns = downlink_.link.busy() ? downlink_.link.next_ns() : kNeverNs;
    const int64_t data_ns = data_.empty() ? kNeverNs : data_.front().arrival_ns;
    const int64_t ack_ns = acks_.empty() ? kNeverNs : acks_.front().arrival_ns;
    const int64_t returned_ns = returned_acks_.empty() ? kNeverNs : returned_acks_.front().arrival_ns;
    const int64_t network_ns = std::min({uplink_ns, downlink_ns, data_ns, ack_ns, returned_ns});
    const int64_t sender_ns = next_sender_event_ns();
    const int64_t next_ns = std::min(network_ns, sender_ns);
    if (next_ns > end.count()) return false;
    now_ = std::max(now_, Time{next_ns});
    if (uplink_ns == next_ns) {
      uplink_.link.use_opportunity([this](const LinkPacket& packet, int64_t ns) { leave_uplink(packet, ns); },
                                   [](const LinkPacket&) {});
    } else if (downlink_ns == next_ns) {
      downlink_.link.use_opportunity(
          [this](const LinkPacket& packet, int64_t ns) { leave_downlink(packet, ns); },
          [](const LinkPacket&) {});
    } else if (data_ns == next_ns) {
      enter_uplink(data_.pop());
    } else if (ack_ns == next_ns) {
      enter_downlink(acks_.pop());
    } else if (returned_ns == next_ns) {
      take_ack(returned_acks_.pop());
    } else {
      run_sender();
    }
    return true;
  }

  [[nodiscard]] int64_t next_sender_event_ns() const {
    if (!held_acks_.empty()) return std::max(stalled_until_, now_).count();
    const Time timer = sender_.next_timer().value_or(Time::max());
    const Time send = sender_.next_send(now_).value_or(Time::max());
    const Time due = std::max(std::min(timer, send), stalled_until_);
    return std::max(due, now_).count();
  }

  void run_sender() {
    if (stalled()) return;
    if (!held_acks_.empty()) return take_held_acks();
    if (sender_.next_timer().value_or(Time::max()) <= now_) return sender_.on_timer(now_);
    send();
  }

  void send() {
    const uint64_t seq = sender_.on_sent(now_);
    const auto reached_ns = uplink_.reach_link(now_.count(), random_);
    if (!reached_ns) return;
    if (*reached_ns > now_.count()) return data_.push({*reached_ns, seq});
    enter_uplink({*reached_ns, seq});
  }

  void enter_uplink(const DataInFlight& data) {
    const LinkPacket packet{data.seq, data.arrival_ns, 0, kDataTunBytes, 0};
    if (observer_ != nullptr) observer_->on_arrival(packet);
    uplink_.link.push(packet, [](const LinkPacket&) {});
  }

  void leave_uplink(const LinkPacket& packet, int64_t now_ns) {
    if (observer_ != nullptr) observer_->on_departure(packet, now_ns);
    const auto received_ns = uplink_.reach_end(now_ns, random_);
    if (!received_ns) return;
    const auto reached_ns = downlink_.reach_link(*received_ns, random_);
    if (reached_ns) acks_.push({*reached_ns, packet.seq, *received_ns});
  }

  void enter_downlink(const AckInFlight& ack) {
    downlink_.link.push({ack.seq, ack.arrival_ns, ack.received_ns, kAckTunBytes, 0},
                        [](const LinkPacket&) {});
  }

  void leave_downlink(const LinkPacket& packet, int64_t now_ns) {
    const auto returned_ns = downlink_.reach_end(now_ns, random_);
    if (!returned_ns) return;
    const AckInFlight ack{*returned_ns, packet.seq, packet.tag};
    if (*returned_ns > now_ns) return returned_acks_.push(ack);
    take_ack(ack);
  }

  void take_ack(const AckInFlight& ack) {
    if (stalled() || !held_acks_.empty()) return held_acks_.push({ack.seq, ack.received_ns});
    sender_.on_ack(Time{ack.arrival_ns}, ack.seq, Time{ack.received_ns});
  }

  void take_held_acks() {
    const HeldAck ack = held_acks_.pop();
    sender_.on_ack(now_, ack.seq, Time{ack.received_ns});
  }

  // Whether the sender's host is off the processor now; draws the stalls that have come due.
  bool stalled() {
    while (next_stall_ <= now_) {
      stalled_until_ = next_stall_ + to_time(random_.uniform() * stall_max_ms_);
      next_stall_ = stalled_until_ + to_time(random_.exponential(stall_mean_gap_ms_));
    }
    return now_ < stalled_until_;
  }

  Controller& controller_;
  Sender<Controller> sender_;
  Direction uplink_;
  Direction downlink_;
  Fifo<DataInFlight> data_{};          // in a delay before the uplink
  Fifo<AckInFlight> acks_{};           // in the delays between the links
  Fifo<AckInFlight> returned_acks_{};  // in a delay behind the downlink
  Fifo<HeldAck> held_acks_{};
  double stall_mean_gap_ms_;
  double stall_max_ms_;
  Random random_;
  UplinkObserver* observer_;
  Time now_{};
  Time next_stall_{Time::max()};
  Time stalled_until_{};
};

}  // namespace ccgym
