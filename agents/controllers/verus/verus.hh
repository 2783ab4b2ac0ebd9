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
    // R, section 5.2: the ratio of the largest delay to the least from which on the window falls. The paper
    // runs 2, 4 and 6, trading delay for throughput.
    double delay_ratio{6};
  };

  Verus(int64_t packet_bytes, const Config& config);

  // Eq. 4: the delay to aim at in the next epoch.
  [[nodiscard]] double next_delay_ms(double estimate_ms, double max_ms, double max_change_ms,
                                     double min_ms) const;
  // Eq. 5: how many packets to send in the next epoch, so that the window moves from one to the other.
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

  void answer_losses(const LostPacket& first);
  void take_delivery(Time now, const AckEvent& ack);
  void on_packet_acked(Time now, const AckedPacket& packet);
  [[nodiscard]] double& window_packets_of(uint64_t seq) {
    return windows_packets_[seq % windows_packets_.size()];
  }
  void leave_slow_start(double sent_under_packets);
  void decrease(double sent_under_packets);
  void aim_at_window();
  void grow(double sent_under_packets);
  void observe_min(Time now, double rtt_ms);
  void end_epoch(Time smoothed_rtt);
  void update_window();
  void grant(double before_packets, Time smoothed_rtt);
  void allow(int64_t inflight_bytes);

  int64_t packet_bytes_;
  double delay_ratio_;
  Phase phase_{Phase::slow_start};
  double window_packets_;
  int64_t cwnd_bytes_;                   // what may be in flight in this epoch
  double budget_packets_{0};             // what is left to send in this epoch
  std::vector<double> windows_packets_;  // by sequence number: the window under which a packet left
  DelayProfile profile_{};
  bool window_is_used_{true};
  double min_ms_{std::numeric_limits<double>::infinity()};  // D_min
  double least_window_min_ms_{0};                           // of the RTTs while the window is its least
  Time least_window_since_{};
  double max_ms_{0};        // D_max, smoothed (eq. 2)
  double epoch_max_ms_{0};  // the largest delay of this epoch
  double estimate_ms_{0};   // D_est
  std::optional<Time> epoch_ends_{};
  Time interpolate_at_{};
};

}  // namespace ccgym
