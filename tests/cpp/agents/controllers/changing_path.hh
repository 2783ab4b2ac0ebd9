// One flow over a path whose rate and delay are functions of time, with random delays that reorder packets
// and an application that pauses: the twin's paths have none of these.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string_view>

#include "agents/controllers/make_controller.hh"
#include "transport/random.hh"
#include "transport/sender.hh"

namespace ccgym {

struct ChangingPath {
  using Course = std::function<double(double seconds)>;

  Course rate_mbps{[](double) { return 8.0; }};
  Course delay_ms{[](double) { return 20.0; }};  // one way
  int64_t queue_packets{60};
  double max_jitter_ms{0};  // added to the delay, uniformly distributed: packets overtake one another
  // Whether the application has a packet, by the packets in flight.
  std::function<bool(double seconds, int64_t inflight)> offers{[](double, int64_t) { return true; }};
};

class FlowOnChangingPath {
 public:
  static constexpr int64_t kPacketBytes = 1436;

  FlowOnChangingPath(std::string_view scheme, ChangingPath path)
      : path_{std::move(path)}, controller_{make_controller(scheme, {.packet_bytes = kPacketBytes})} {}

  void run_until(double seconds) {
    const Time end = time_of(1e3 * seconds);
    while (now_ < end) {
      send_due();
      const Time ack = acks_.empty() ? Time::max() : acks_.begin()->first;
      now_ = std::max(now_, std::min({end, ack, sender_.deadline(), next_send(), now_ + kApplicationPoll}));
      if (ack <= now_) {
        take_ack();
      } else if (sender_.deadline() <= now_) {
        sender_.on_timer(now_);
      }
    }
  }

  // Runs until then; returns the throughput of that time, in Mbit/s of UDP payload.
  double mbps_until(double seconds) {
    const int64_t before = sender_.delivered_bytes();
    const double began_s = seconds_now();
    run_until(seconds);
    return static_cast<double>(sender_.delivered_bytes() - before) * 8e-6 / (seconds - began_s);
  }

  [[nodiscard]] const Sender<>& sender() const { return sender_; }
  [[nodiscard]] const CongestionController& controller() const { return *controller_; }
  [[nodiscard]] double cwnd_packets() const {
    return static_cast<double>(controller_->limits().cwnd_bytes) / static_cast<double>(kPacketBytes);
  }

 private:
  struct Arrived {
    uint64_t seq{};
    Time at{};
  };
  static constexpr Time kApplicationPoll = std::chrono::milliseconds{5};
  static constexpr double kPacketBits = 8.0 * (kPacketBytes + 28);

  static Time time_of(double ms) { return Time{static_cast<int64_t>(1e6 * ms)}; }
  [[nodiscard]] double seconds_now() const { return 1e-3 * in_ms(now_); }

  // When the pacer releases the next packet. One that is due already waits for the application.
  [[nodiscard]] Time next_send() const {
    const Time send = sender_.next_send(now_).value_or(Time::max());
    return send > now_ ? send : Time::max();
  }

  void send_due() {
    while (sender_.next_send(now_).value_or(Time::max()) <= now_) {
      if (!sender_.owes_probe() && !path_.offers(seconds_now(), sender_.inflight_bytes() / kPacketBytes))
        return sender_.on_app_limited();
      send_packet();
    }
  }

  void send_packet() {
    const uint64_t seq = sender_.on_sent(now_);
    while (!departures_.empty() && departures_.front() <= now_) departures_.pop();
    if (static_cast<int64_t>(departures_.size()) > path_.queue_packets) return;
    const double s = seconds_now();
    link_free_at_ = std::max(link_free_at_, now_) + time_of(1e-3 * kPacketBits / path_.rate_mbps(s));
    departures_.push(link_free_at_);
    const Time delay = time_of(path_.delay_ms(s));
    Time arrival = link_free_at_ + delay + time_of(path_.max_jitter_ms * random_.uniform());
    if (path_.max_jitter_ms == 0) arrival = latest_arrival_ = std::max(arrival, latest_arrival_);
    acks_.emplace(arrival + delay, Arrived{seq, arrival});
  }

  void take_ack() {
    const Arrived packet = acks_.begin()->second;
    acks_.erase(acks_.begin());
    sender_.on_ack(now_, packet.seq, packet.at);
  }

  ChangingPath path_;
  std::unique_ptr<CongestionController> controller_;
  Sender<> sender_{*controller_, kPacketBytes};
  Random random_{7};
  Time now_{};
  Time link_free_at_{};
  Time latest_arrival_{};
  std::queue<Time> departures_{};  // from the link
  std::multimap<Time, Arrived> acks_{};
};

}  // namespace ccgym
