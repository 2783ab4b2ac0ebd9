// ACKs of a flow that sends a train whenever it is asked to, over a link of a given rate.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

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
  void fly(Listener& listener, int packets = 8) {
    now_ += 5 * kRtt;
    ack(listener, 64, now_);            // it holds packets back
    ack(listener, 64 - packets, now_);  // and sends them now
    const Time sent_at = now_;
    now_ += kRtt;
    ack(listener, 64, sent_at - kRtt);  // of an earlier packet
    for (int packet = 0; packet < packets; ++packet) {
      now_ += packet_time_;
      ack(listener, 64, sent_at);
    }
    ack(listener, 64, sent_at + std::chrono::milliseconds{1});
  }

  [[nodiscard]] Time now() const { return now_; }

  static constexpr Time kRtt = std::chrono::milliseconds{100};
  static constexpr int64_t kBytes = 1000;

 private:
  template <class Listener>
  void ack(Listener& listener, int64_t inflight_packets, Time sent_at) {
    const std::array acked{AckedPacket{.bytes = kBytes, .sent_at = sent_at, .received_at = now_}};
    AckEvent event{.acked = acked, .inflight_bytes = inflight_packets * kBytes};
    event.rtt = {.latest = kRtt, .smoothed = kRtt, .min = kRtt / 2};
    event.rate.interval = kRtt;
    event.rate.delivered_bytes = static_cast<int64_t>(own_packets_per_ms_ * 100) * kBytes;
    listener.on_ack(now_, event, 64);
  }

  Time packet_time_;
  double own_packets_per_ms_;
  Time now_;
};

}  // namespace ccgym
