// An observation without a scale of its own: every rate is expressed as a window (rate * min RTT) relative to
// the present one, every delay relative to min RTT, each over several time scales. A policy that sees only
// ratios also works at rates and delays that it has not met in training.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "agents/policy/own_state.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class ScaleFreeFeatures {
 public:
  static constexpr std::size_t kSize = 30;
  static constexpr std::array<float, kSize> kDivisors{5, 5, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3,
                                                      1, 1, 1, 1, 1, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1};

  ScaleFreeFeatures(int64_t packet_bytes, double preference)
      : packet_bytes_(static_cast<double>(packet_bytes)), preference_(preference) {}

  void on_ack(Time now, const AckEvent& ack) {
    const double rtt_ms = in_ms(ack.rtt.latest);
    rtt_deviation_ms_ += (std::abs(rtt_ms - smoothed_ms(ack.rtt)) - rtt_deviation_ms_) / 16;
    ++step_.acks;
    step_.rtt_sum_ms += rtt_ms;
    step_.min_rtt = std::min(step_.min_rtt, ack.rtt.latest);
    step_.delivered_bytes += ack.acked_bytes();
    step_.latest = {ack.rtt, ack.rate.ack_interval, ack.rate.delivered_bytes, ack.bytes_sent_since(),
                    ack.inflight_bytes};
    note_arrival(ack.newest().sent_at, ack.newest().arrived_at(now));
  }
  void on_loss(std::span<const LostPacket> lost) {
    for (const LostPacket& packet : lost) step_.lost_bytes += packet.bytes;
  }
  void on_action(float action) { previous_action_ = action; }
  void observe(Time now, const OwnState& own, std::span<float> observation);

 private:
  struct Ack {
    RttStats rtt{};
    Time ack_interval{};
    int64_t delivered_bytes{};
    int64_t bytes_sent_since{};
    int64_t inflight_bytes{};
  };
  struct Step {  // since the last decision
    int64_t acks{0};
    double rtt_sum_ms{0};
    Time min_rtt{Time::max()};
    int64_t delivered_bytes{0};
    int64_t lost_bytes{0};
    double forward_sum_ms{0};
    Ack latest{};
  };

  static double smoothed_ms(const RttStats& rtt) { return std::max(in_ms(rtt.smoothed), kMinMs); }

  void note_arrival(Time sent_at, Time received_at) {
    const Time forward = received_at - sent_at;
    if (forward < min_forward_) {
      min_forward_ = forward;
      min_forward_ms_ = in_ms(forward);
    }
    latest_forward_queueing_ms_ = in_ms(forward) - min_forward_ms_;
    step_.forward_sum_ms += latest_forward_queueing_ms_;
    last_arrival_ = std::max(last_arrival_.value_or(received_at), received_at);
  }
  void close_step();
  void take_latest();
  void update_averages(double step_ms, double log_window);
  // The entries of the observation before they are divided and cut.
  [[nodiscard]] std::array<double, kSize> entries(Time now, const OwnState& own, double step_ms) const;
  // The logarithm of a rate's window, rate * min RTT, relative to `cwnd_packets`.
  [[nodiscard]] double as_window(double bytes_per_ms, double cwnd_packets) const;

  static constexpr double kMinMs = 1e-3;  // lower bound of times that are divided by

  double packet_bytes_;
  double preference_;
  Step step_{};
  Time step_start_{};
  double min_rtt_ms_{0};
  double smoothed_rtt_ms_{0};
  double rtt_deviation_ms_{0};
  double round_trip_rate_{0};  // bytes per ms, over the last round trip
  double sending_rate_{0};     // bytes per ms, over the last round trip
  double inflight_bytes_{0};
  double max_rate_{0};     // bytes per ms, forgotten over kMaxRateRtts
  double queueing_ms_{0};  // mean of the last step that had ACKs
  double least_queueing_ms_{0};
  // By the receiver's clock, which the path of the ACKs does not disturb:
  Time min_forward_{Time::max()};  // least one-way delay plus the clocks' offset
  double min_forward_ms_{0};
  double forward_queueing_ms_{0};         // mean of the last step that had ACKs
  double latest_forward_queueing_ms_{0};  // of the packet acknowledged last
  double received_rate_{0};  // bytes per ms, from the last arrival of one step to that of the next
  std::optional<Time> last_arrival_{};
  std::optional<Time> step_arrival_{};  // the last arrival of the step before
  double standing_ms_{0};               // least queueing, forgotten over 8 smoothed round trips
  // Exponential averages, over as many smoothed round trips as their names say:
  double received_2_{0};
  double window_2_{0};
  double window_8_{0};
  double rate_4_{0};
  double rate_16_{0};
  double queueing_2_{0};
  double queueing_8_{0};
  double loss_2_{0};
  double loss_16_{0};
  float previous_action_{0};
};

}  // namespace ccgym
