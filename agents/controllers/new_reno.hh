// NewReno: slow start, congestion avoidance and fast recovery (RFC 5681, RFC 6582), growth by bytes
// acknowledged (RFC 3465), Proportional Rate Reduction in recovery (RFC 6937).
#pragma once

#include "agents/controllers/fast_recovery.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class NewReno final : public CongestionController {
 public:
  explicit NewReno(int64_t packet_bytes);

  [[nodiscard]] std::string_view name() const override { return "reno"; }
  void on_sent(Time /*now*/, const SentPacket& packet) override { recovery_.on_sent(packet); }
  void on_ack(Time now, const AckedPacket& packet) override;
  void on_loss(Time now, const Loss& loss) override;
  void on_spurious_timeout(Time now) override;
  [[nodiscard]] SendLimits limits() const override {
    return {.cwnd_bytes = state_.cwnd_bytes, .pacing_mbps = {}};
  }

 private:
  struct State {
    int64_t cwnd_bytes{};
    int64_t ssthresh_bytes{};
    int64_t acked_in_window_bytes{0};  // RFC 3465's bytes_acked: a full window of it opens cwnd by a packet
  };

  void grow(int64_t acked_bytes);

  int64_t packet_bytes_;
  State state_;
  std::optional<State> before_timeout_{};  // to go back to; until the time-out has proved genuine
  FastRecovery recovery_;
};

}  // namespace ccgym
