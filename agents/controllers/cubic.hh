// CUBIC (RFC 9438; section and equation numbers are its own), with HyStart in slow start and Proportional
// Rate Reduction in recovery.
#pragma once

#include "agents/controllers/fast_recovery.hh"
#include "agents/controllers/hystart.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class Cubic final : public CongestionController {
 public:
  explicit Cubic(int64_t packet_bytes);

  [[nodiscard]] std::string_view name() const override { return "cubic"; }
  void on_sent(Time now, const SentPacket& packet) override;
  void on_ack(Time now, const AckedPacket& packet) override;
  void on_loss(Time now, const Loss& loss) override;
  void on_spurious_timeout(Time now) override;
  [[nodiscard]] SendLimits limits() const override;

 private:
  // One stage of congestion avoidance, from its first ACK to the next loss (section 4.1.2).
  struct Epoch {
    Time began{};
    double origin_packets{};  // W_max, or the window the epoch began with when that is larger
    double k_s{};             // K, eq. 2
    double reno_packets{};    // W_est, eq. 4
  };
  struct State {
    double cwnd_packets{};
    double ssthresh_packets{};
    double max_packets{0};    // W_max; 0 before the first loss
    double prior_packets{0};  // cwnd_prior: the window at the last loss
    std::optional<Epoch> epoch{};
  };

  void avoid_congestion(Time now, const RttStats& rtt);
  [[nodiscard]] Epoch new_epoch(Time now) const;
  [[nodiscard]] double growth_per_ack(Time elapsed) const;
  void reduce(double flight_packets);

  int64_t packet_bytes_;
  State state_;
  std::optional<State> before_timeout_{};  // to go back to; until the time-out has proved genuine
  HyStart hystart_{};
  FastRecovery recovery_;
};

}  // namespace ccgym
