// Observation without a scale of its own: every rate is seen as a window (rate * min RTT) relative to
// the present one, every delay relative to min RTT, each over several time scales. A policy that sees
// ratios carries over to rates and delays it never met in training.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "agents/controllers/policy/features.hh"

namespace ccgym {

class ScaleFreeFeatures final : public Features {
 public:
  static constexpr std::size_t kSize = 28;
  static constexpr std::array<float, kSize> kDivisors{5, 5, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                      3, 1, 1, 1, 1, 1, 3, 3, 3, 1, 1, 1, 1, 1};

  ScaleFreeFeatures(int64_t packet_bytes, double preference)
      : packet_bytes_(static_cast<double>(packet_bytes)), preference_(preference) {}

  void on_ack(Time now, const AckedPacket& packet) override;
  void on_loss(const Loss& loss) override { step_.lost_bytes += lost_bytes(loss); }
  void on_action(float action) override { previous_action_ = action; }
  void observe(Time now, double cwnd_packets, std::span<float> observation) override;

 private:
  struct Step {  // since the last decision
    int64_t acks{0};
    double rtt_sum_ms{0};
    double min_rtt_ms{0};
    double delivered_bytes{0};
    double lost_bytes{0};
    double forward_sum_ms{0};
  };
  struct Average {  // exponential, over `horizon_rtts` smoothed round trips
    double horizon_rtts;
    double value;
  };

  static double lost_bytes(const Loss& loss);
  void note_arrival(const AckedPacket& packet);
  void close_step();
  void update_averages(double step_ms, double cwnd_packets);
  [[nodiscard]] double as_window(double bytes_per_ms, double cwnd_packets) const;

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
  double min_forward_ms_{0};              // least one-way delay plus the clocks' offset
  double forward_queueing_ms_{0};         // mean of the last step that had ACKs
  double latest_forward_queueing_ms_{0};  // of the packet acknowledged last
  double received_rate_{0};  // bytes per ms, from the last arrival of one step to that of the next
  std::optional<double> last_arrival_ms_{};
  std::optional<double> step_arrival_ms_{};
  double standing_ms_{0};  // least queueing, forgotten over kStandingRtts
  Average received_2_{2, 0};
  Average window_2_{2, 0};
  Average window_8_{8, 0};
  Average rate_4_{4, 0};
  Average rate_16_{16, 0};
  Average queueing_2_{2, 0};
  Average queueing_8_{8, 0};
  Average loss_2_{2, 0};
  Average loss_16_{16, 0};
  float previous_action_{0};
};

}  // namespace ccgym
