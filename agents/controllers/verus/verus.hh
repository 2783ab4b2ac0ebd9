// Verus, after Zaki et al., "Adaptive Congestion Control for Unpredictable Cellular Networks", SIGCOMM 2015
// (section and equation numbers are the paper's).
#pragma once

#include <limits>
#include <vector>

#include "agents/controllers/verus/delay_profile.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class Verus final : public CongestionController {
 public:
  struct Config {
    // R, section 5.2: the window falls when D_max / D_min exceeds it. The paper uses 2, 4 and 6: a larger R
    // gives more throughput and more delay.
    double delay_ratio{6};
  };

  Verus(int64_t packet_bytes, const Config& config);

  // Eq. 4: D_est of the next epoch from D_est, D_max, the change of D_max and D_min.
  [[nodiscard]] double next_delay_ms(double estimate_ms, double max_ms, double max_change_ms,
                                     double min_ms) const;
  // Eq. 5: how many packets to send in the next epoch, so that the window moves from `window_packets` to
  // `next_window_packets`.
  static double packets_to_send(double window_packets, double next_window_packets, double epochs_per_rtt);

  [[nodiscard]] std::string_view name() const override { return "verus"; }
  void on_sent(Time now, const SentPacket& packet) override;
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  [[nodiscard]] std::optional<Time> next_timer() const override { return epoch_ends_; }
  void on_timer(Time now, const Timer& timer) override;
  [[nodiscard]] SendLimits limits() const override { return {.cwnd_bytes = cwnd_bytes_}; }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Verus>(*this);
  }

 private:
  enum class Phase { slow_start, normal, recovery };

  void respond_to_losses(const LostPacket& first);
  void take_delivery(Time now, const AckEvent& ack);
  void on_packet_acked(Time now, const AckedPacket& packet);
  [[nodiscard]] double& window_packets_of(uint64_t seq) {
    return sent_under_packets_[seq % sent_under_packets_.size()];
  }
  void leave_slow_start(double sent_under_packets);
  void decrease(double sent_under_packets);
  void set_estimate_from_window();
  void grow(double sent_under_packets);
  void observe_min(Time now, double rtt_ms);
  void end_epoch(Time smoothed_rtt);
  void update_window();
  void set_budget(double before_packets, Time smoothed_rtt);
  void update_cwnd(int64_t inflight_bytes);

  int64_t packet_bytes_;
  double delay_ratio_;
  Phase phase_{Phase::slow_start};
  double window_packets_;
  int64_t cwnd_bytes_;                      // may be in flight in this epoch
  double budget_packets_{0};                // may still leave in this epoch
  std::vector<double> sent_under_packets_;  // by sequence number: the window under which a packet left
  DelayProfile profile_{};
  bool window_is_used_{true};  // as of the last ACK: the application does not limit the flow
  double min_ms_{std::numeric_limits<double>::infinity()};  // D_min
  double least_window_min_ms_{0};  // the smallest RTT since the window is at its minimum
  Time least_window_since_{};
  double max_ms_{0};        // D_max, smoothed (eq. 2)
  double epoch_max_ms_{0};  // the largest delay of this epoch
  double estimate_ms_{0};   // D_est
  std::optional<Time> epoch_ends_{};
  Time interpolate_at_{};
};

}  // namespace ccgym
