// CUBIC (RFC 9438; section and equation numbers are the RFC's), with HyStart in slow start and Proportional
// Rate Reduction (RFC 6937) in recovery. The response to a CE mark is that to a loss, at most once in a round
// trip (RFC 3168).
#pragma once

#include <utility>

#include "agents/controllers/fast_recovery.hh"
#include "agents/controllers/hystart.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class Cubic final : public CongestionController {
 public:
  explicit Cubic(int64_t packet_bytes);

  [[nodiscard]] std::string_view name() const override { return "cubic"; }
  [[nodiscard]] bool wants_ecn() const override { return true; }
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override;
  void on_restart(Time now, Time idle) override;
  [[nodiscard]] SendLimits limits() const override;
  [[nodiscard]] std::vector<Metric> metrics() const override;
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Cubic>(*this);
  }

 private:
  // One stage of congestion avoidance, from its first ACK to the next loss (section 4.1.2).
  struct Epoch {
    Time began{};
    double plateau_packets{};  // W_max, or the window at the start of the epoch if that is larger
    double k_s{};              // K, eq. 2: seconds until W_cubic reaches the plateau
    double reno_packets{};     // W_est, eq. 4
  };
  struct State {
    double cwnd_packets{};
    double ssthresh_packets{};
    double max_packets{0};    // W_max; 0 before the first loss
    double prior_packets{0};  // cwnd_prior: the window at the last loss
    std::optional<Epoch> epoch{};
  };

  void respond_to_congestion(const AckEvent& ack);
  void grow(Time now, const AckEvent& ack);
  void shift_epoch(Time time);
  void avoid_congestion(Time now, const RttStats& rtt);
  [[nodiscard]] Epoch new_epoch(Time now) const;
  [[nodiscard]] double growth_per_ack(Time elapsed) const;
  [[nodiscard]] double in_packets(int64_t bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(packet_bytes_);
  }
  void reduce(double inflight_packets);

  int64_t packet_bytes_;
  State state_;
  // The state to restore if the time-out proves spurious; absent once a later packet has been acknowledged.
  std::optional<std::pair<State, FastRecovery>> before_timeout_{};
  State before_losses_{};               // before the last episode of losses
  std::optional<Time> unused_since_{};  // since when the application has limited the flow
  HyStart hystart_{};
  FastRecovery recovery_;
};

}  // namespace ccgym
