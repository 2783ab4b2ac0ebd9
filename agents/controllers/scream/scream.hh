// SCReAM, Self-Clocked Rate Adaptation for Multimedia (RFC 8298, whose section numbers are used): its network
// congestion control (section 4.1.2), without a media encoder.
#pragma once

#include <array>

#include "agents/controllers/scream/qdelay_target.hh"
#include "transport/congestion_controller.hh"
#include "transport/windowed_filter.hh"

namespace ccgym {

class Scream final : public CongestionController {
 public:
  explicit Scream(int64_t packet_bytes);

  [[nodiscard]] std::string_view name() const override { return "scream"; }
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  [[nodiscard]] SendLimits limits() const override { return limits_; }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Scream>(*this);
  }

  [[nodiscard]] double cwnd_bytes() const { return cwnd_bytes_; }
  [[nodiscard]] bool in_fast_increase() const { return in_fast_increase_; }
  [[nodiscard]] double qdelay_trend() const { return qdelay_trend_; }

 private:
  static constexpr std::size_t kHistory = 20;  // qdelay_fraction_hist

  void take_delivery(Time now, const AckEvent& ack);
  void respond_to_losses(Time now, std::span<const LostPacket> lost);
  void observe(Time now, const AckEvent& ack);
  void sample_qdelay(Time now);
  void update_trend(Time now);
  void end_round_trip(Time now);
  void grow(int64_t inflight_bytes);
  void bound_by_inflight();
  void leave_fast_increase(Time now);
  [[nodiscard]] SendLimits limits_at(Time smoothed_rtt) const;

  int64_t packet_bytes_;
  double cwnd_bytes_;
  bool in_fast_increase_{true};
  Time congested_at_{};           // the last loss, or the last time the trend was above its threshold
  Time loss_answered_at_{};       // losses of packets sent before this time have been responded to
  int64_t newly_acked_bytes_{0};  // bytes_newly_acked, including bytes lost since the last ACK
  double qdelay_s_{0};
  QdelayTarget target_{};
  double qdelay_fraction_avg_{0};
  double qdelay_trend_{0};
  std::array<double, kHistory> fractions_{};
  std::size_t samples_{0};
  Time sampled_at_{};
  Time round_trip_ended_at_{};
  WindowedMin<Time> base_delay_{};  // one-way: receiver's clock at arrival less sender's at departure
  WindowedMax<int64_t> max_inflight_{};
  SendLimits limits_;
};

}  // namespace ccgym
