// The measurements of a step, unscaled: the base for your own features. Units are in the names.
//
// Counts, sums and means are of the step alone, and 0 when no ACK came; entries with `last` or `least`, rates
// and inflight are as known at the last ACK. One-way times are by the receiver's clock: between machines the
// least one contains the offset of their clocks; differences from the least do not.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "agents/policy/own_state.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class RawFeatures {
 public:
  static constexpr std::array<std::string_view, 24> kNames{
      "time_ms",                   // of the decision, since the flow began
      "step_ms",                   // since the decision before, at first since the flow began
      "acks",                      // that came in the step
      "acked_packets",             // in the step
      "acked_bytes",               // in the step
      "lost_packets",              // given up in the step
      "lost_bytes",                // given up in the step
      "ce_packets",                // acknowledged with the mark "congestion experienced"
      "least_rtt_ms",              // of the flow so far
      "step_least_rtt_ms",         // of the step's ACKs
      "mean_rtt_ms",               // over the step's ACKs
      "last_rtt_ms",               // of the newest ACK
      "smoothed_rtt_ms",           // RFC 6298
      "rtt_deviation_ms",          // mean distance from the smoothed one, each ACK with weight 1/16
      "least_one_way_ms",          // of the flow so far
      "mean_one_way_queueing_ms",  // above the least so far, over the step's ACKs
      "last_one_way_queueing_ms",  // of the newest ACK
      "arrival_interval_ms",       // from the last arrival of the step before to that of this one
      "delivery_rate_mbps",        // over the last round trip
      "delivery_interval_ms",      // in which that was measured
      "send_rate_mbps",            // over the last round trip
      "inflight_packets",          // after the newest ACK
      "window_packets",            // before the coming action
      "limited_by",  // what kept the sender from sending more: 0 window, 1 pacing, 2 application
  };
  static constexpr std::array<float, kNames.size()> kDivisors = [] {
    std::array<float, kNames.size()> ones{};
    ones.fill(1);
    return ones;
  }();

  explicit RawFeatures(int64_t packet_bytes) : packet_bytes_(static_cast<double>(packet_bytes)) {}

  void on_ack(Time now, const AckEvent& ack) {
    const double rtt_ms = in_ms(ack.rtt.latest);
    rtt_deviation_ms_ +=
        (std::abs(rtt_ms - std::max(in_ms(ack.rtt.smoothed), kMinMs)) - rtt_deviation_ms_) / 16;
    ++step_.acks;
    step_.packets += static_cast<int64_t>(ack.acked.size());
    step_.bytes += ack.acked_bytes();
    step_.ce_packets += ack.ce_packets;
    step_.rtt_sum_ms += rtt_ms;
    step_.least_rtt = std::min(step_.least_rtt, ack.rtt.latest);
    latest_ = {ack.rtt,
               ack.rate.ack_interval,
               ack.rate.delivered_bytes,
               ack.bytes_sent_since(),
               ack.inflight_bytes,
               ack.limited_by};
    note_arrival(ack.newest().sent_at, ack.newest().arrived_at(now));
  }
  void on_loss(std::span<const LostPacket> lost) {
    step_.lost_packets += static_cast<int64_t>(lost.size());
    for (const LostPacket& packet : lost) step_.lost_bytes += packet.bytes;
  }
  void on_action(float /*action*/) {}
  void observe(Time now, const OwnState& own, std::span<float> observation);

 private:
  struct Step {  // since the last decision
    int64_t acks{0};
    int64_t packets{0};
    int64_t bytes{0};
    int64_t lost_packets{0};
    int64_t lost_bytes{0};
    int64_t ce_packets{0};
    double rtt_sum_ms{0};
    Time least_rtt{Time::max()};
    double one_way_queueing_sum_ms{0};
  };
  struct Ack {
    RttStats rtt{};
    Time ack_interval{};
    int64_t delivered_bytes{};
    int64_t bytes_sent_since{};
    int64_t inflight_bytes{};
    Limit limited_by{Limit::window};
  };

  static double mbps(int64_t bytes, Time interval) {
    return 0.008 * static_cast<double>(bytes) / std::max(in_ms(interval), kMinMs);
  }

  void note_arrival(Time sent_at, Time received_at) {
    const Time one_way = received_at - sent_at;
    least_one_way_ = std::min(least_one_way_.value_or(one_way), one_way);
    last_one_way_queueing_ms_ = in_ms(one_way - *least_one_way_);
    step_.one_way_queueing_sum_ms += last_one_way_queueing_ms_;
    last_arrival_ = std::max(last_arrival_.value_or(received_at), received_at);
  }
  [[nodiscard]] double arrival_interval_ms() const {
    return step_.acks > 0 && step_arrival_ ? in_ms(*last_arrival_ - *step_arrival_) : 0;
  }

  static constexpr double kMinMs = 1e-3;  // lower bound of times that are divided by

  double packet_bytes_;
  Step step_{};
  Ack latest_{};
  Time step_start_{};
  double rtt_deviation_ms_{0};
  std::optional<Time> least_one_way_{};
  double last_one_way_queueing_ms_{0};
  std::optional<Time> last_arrival_{};
  std::optional<Time> step_arrival_{};  // the last arrival of the step before
};

}  // namespace ccgym
