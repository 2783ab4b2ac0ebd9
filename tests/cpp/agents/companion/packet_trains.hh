// ACKs of a flow that sends a train whenever it is asked to, over a link of a given rate.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/congestion_controller.hh"

namespace ccgym {

class PacketTrains {
 public:
  PacketTrains(double link_packets_per_ms, double own_packets_per_ms, Time start = std::chrono::seconds{1})
      : packet_time_{Time{static_cast<int64_t>(1e6 / link_packets_per_ms)}},
        own_packets_per_ms_{own_packets_per_ms},
        now_{start} {}

  // All ACKs of one train of `packets` of a window of 64, told to anything with LinkShare's `on_ack`.
  template <class Listener>
  void send(Listener& listener, int packets = 8) {
    idle(listener);
    now_ += 7 * kRtt - idle_;
    wait(listener);                     // and then it holds packets back
    ack(listener, 64 - packets, now_);  // it sends them now
    const Time sent_at = now_;
    now_ += kRtt;
    ack(listener, 64, sent_at - kRtt);  // of an earlier packet
    const Time begins_at = now_;
    for (int packet = 0; packet < packets; ++packet) {
      now_ = leaves_at(begins_at, packet);
      ack(listener, 64, sent_at);
    }
    ack(listener, 64, sent_at + std::chrono::milliseconds{1});
    trained_at_ = now_;
  }

  // After each train the queue is empty for so long, and no more than these packets are delivered.
  void idle_for(Time idle, std::size_t packets = 1) {
    idle_ = idle;
    idle_packets_ = packets;
  }

  // From now on the trains meet no queue, and the link sends what it has at the beginning of each ms.
  void meet_no_queue_before_a_clock() {
    min_rtt_ = kRtt;
    clock_ = std::chrono::milliseconds{1};
  }

  [[nodiscard]] Time now() const { return now_; }

  static constexpr Time kRtt = std::chrono::milliseconds{100};
  static constexpr int64_t kBytes = 1000;

 private:
  static constexpr double kWindow = 64;

  // The packets of the first ms leave at once, if there is a clock.
  [[nodiscard]] Time leaves_at(Time begins_at, int packet) const {
    if (clock_ == Time::zero()) return begins_at + (packet + 1) * packet_time_;
    return begins_at + packet * packet_time_ / clock_ * clock_;
  }

  template <class Listener>
  void idle(Listener& listener) {
    if (idle_ == Time::zero()) return;
    now_ += idle_;
    ack(listener, 64, std::vector<AckedPacket>(idle_packets_, packet_sent_at(now_ - min_rtt_)), min_rtt_);
    trained_at_ = now_;
  }

  // What has been delivered since the last train, told at once.
  template <class Listener>
  void wait(Listener& listener) {
    const double waited_ms = in_ms(now_ - trained_at_);
    const auto packets = static_cast<std::size_t>(own_packets_per_ms_ * waited_ms);
    ack(listener, 64, std::vector<AckedPacket>(std::max<std::size_t>(packets, 1), packet_sent_at(now_)));
  }

  [[nodiscard]] AckedPacket packet_sent_at(Time sent_at) const {
    return {.bytes = kBytes, .sent_at = sent_at, .received_at = now_};
  }

  template <class Listener>
  void ack(Listener& listener, int64_t inflight_packets, Time sent_at) {
    ack(listener, inflight_packets, std::array{packet_sent_at(sent_at)});
  }

  template <class Listener>
  void ack(Listener& listener, int64_t inflight_packets, std::span<const AckedPacket> acked,
           Time latest_rtt = kRtt) {
    AckEvent event{.acked = acked, .inflight_bytes = inflight_packets * kBytes};
    event.rtt = {.latest = latest_rtt, .smoothed = kRtt, .min = min_rtt_};
    listener.on_ack(now_, event, kWindow, true);
  }

  Time packet_time_;
  double own_packets_per_ms_;
  Time now_;
  Time min_rtt_{kRtt / 2};
  Time clock_{};
  Time trained_at_{now_};
  Time idle_{};
  std::size_t idle_packets_{1};
};

}  // namespace ccgym
