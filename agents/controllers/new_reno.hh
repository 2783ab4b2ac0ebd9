// NewReno: slow start, congestion avoidance and fast recovery (RFC 5681, RFC 6582), appropriate byte counting
// (RFC 3465), Proportional Rate Reduction in recovery (RFC 6937). The response to a CE mark is that to a loss
// (RFC 3168, section 6.1.2).
#pragma once

#include <utility>

#include "agents/controllers/fast_recovery.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class NewReno final : public CongestionController {
 public:
  explicit NewReno(int64_t packet_bytes);

  [[nodiscard]] std::string_view name() const override { return "reno"; }
  [[nodiscard]] bool wants_ecn() const override { return true; }
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override;
  [[nodiscard]] SendLimits limits() const override { return {.cwnd_bytes = state_.cwnd_bytes}; }
  [[nodiscard]] std::vector<Metric> metrics() const override;
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<NewReno>(*this);
  }

  // The factor by which CE marks reduce cwnd, 0 to 1; 0.5 unless set (DCTCP's is 1 - alpha / 2).
  void set_mark_beta(double beta) { mark_beta_ = beta; }

 private:
  struct State {
    int64_t cwnd_bytes{};
    int64_t ssthresh_bytes{};
    int64_t acked_in_window_bytes{0};  // RFC 3465: bytes_acked; each cwnd of them adds a packet to cwnd
  };

  void respond_to_congestion(const AckEvent& ack);
  void grow(int64_t acked_bytes);
  void reduce(int64_t window_bytes);

  int64_t packet_bytes_;
  double mark_beta_{0.5};
  State state_;
  // The state to restore if the time-out proves spurious; absent once a later packet has been acknowledged.
  std::optional<std::pair<State, FastRecovery>> before_timeout_{};
  State before_losses_{};  // before the last episode of losses
  FastRecovery recovery_;
};

}  // namespace ccgym
