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

#include "envs/twin/fifo.hh"
#include "envs/twin/link.hh"
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
  virtual void on_arrival(const LinkPacket& packet, bool admitted) = 0;
  virtual void on_departure(const LinkPacket& packet, int64_t now_ms) = 0;
};

template <class Controller>
class Twin {
 public:
  Twin(const PathSpec& path, Controller& controller, uint64_t seed, UplinkObserver* observer = nullptr)
      : controller_(controller),
        sender_(controller, static_cast<int64_t>(kDataBytes)),
        uplink_(path.uplink.schedule, path.uplink.queue),
        downlink_(path.downlink.schedule, path.downlink.queue),
        delay_ms_(path.delay_ms),
        uplink_loss_(path.uplink.loss),
        downlink_loss_(path.downlink.loss),
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
  [[nodiscard]] std::size_t queued_packets() const { return uplink_.queued_packets(); }

 private:
  struct AckInFlight {
    int64_t arrival_ms{};  // at the downlink
    uint64_t seq{};
    int64_t received_ms{};
  };
  struct HeldAck {
    uint64_t seq{};
    int64_t received_ms{};
  };

  static constexpr int64_t kNever = INT64_MAX;
  static constexpr int64_t kNsPerMs = 1'000'000;

  static Time to_time(double ms) { return Time{static_cast<int64_t>(ms * 1e6)}; }
  static int64_t as_ns(int64_t ms) { return ms * kNsPerMs; }

  // One event, if there is one before `end`.
  bool step(Time end) {
    const int64_t uplink_ns = uplink_.busy() ? as_ns(uplink_.next_ms()) : kNever;
    const int64_t downlink_ns = downlink_.busy() ? as_ns(downlink_.next_ms()) : kNever;
    const int64_t ack_ns = acks_.empty() ? kNever : as_ns(acks_.front().arrival_ms);
    const int64_t network_ns = std::min({uplink_ns, downlink_ns, ack_ns});
    const int64_t sender_ns = next_sender_event_ns();
    const int64_t next_ns = std::min(network_ns, sender_ns);
    if (next_ns > end.count()) return false;
    now_ = std::max(now_, Time{next_ns});
    if (uplink_ns == next_ns) {
      uplink_.use_opportunity([this](const LinkPacket& packet, int64_t ms) { leave_uplink(packet, ms); });
    } else if (downlink_ns == next_ns) {
      downlink_.use_opportunity([this](const LinkPacket& packet, int64_t ms) { leave_downlink(packet, ms); });
    } else if (ack_ns == next_ns) {
      enter_downlink();
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
    const int64_t now_ms = now_.count() / kNsPerMs;
    const LinkPacket packet{sender_.on_sent(now_), now_ms, 0, kDataTunBytes};
    const bool admitted = uplink_.push(packet);
    if (observer_ != nullptr) observer_->on_arrival(packet, admitted);
  }

  void leave_uplink(const LinkPacket& packet, int64_t now_ms) {
    if (observer_ != nullptr) observer_->on_departure(packet, now_ms);
    if (random_.chance(uplink_loss_)) return;
    const int64_t received_ms = now_ms + delay_ms_;
    if (random_.chance(downlink_loss_)) return;
    acks_.push({received_ms + delay_ms_, packet.seq, received_ms});
  }

  void enter_downlink() {
    const AckInFlight ack = acks_.pop();
    downlink_.push({ack.seq, ack.arrival_ms, ack.received_ms, kAckTunBytes});
  }

  void leave_downlink(const LinkPacket& packet, int64_t now_ms) {
    if (stalled() || !held_acks_.empty()) {
      held_acks_.push({packet.seq, packet.tag});
      return;
    }
    sender_.on_ack(Time{as_ns(now_ms)}, packet.seq, Time{as_ns(packet.tag)});
  }

  void take_held_acks() {
    const HeldAck ack = held_acks_.pop();
    sender_.on_ack(now_, ack.seq, Time{as_ns(ack.received_ms)});
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
  TwinLink uplink_;
  TwinLink downlink_;
  Fifo<AckInFlight> acks_{};
  Fifo<HeldAck> held_acks_{};
  int64_t delay_ms_;
  double uplink_loss_;
  double downlink_loss_;
  double stall_mean_gap_ms_;
  double stall_max_ms_;
  Random random_;
  UplinkObserver* observer_;
  Time now_{};
  Time next_stall_{Time::max()};
  Time stalled_until_{};
};

}  // namespace ccgym
