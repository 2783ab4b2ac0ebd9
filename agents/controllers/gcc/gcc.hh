// Google Congestion Control for WebRTC, draft-ietf-rmcat-gcc-02, with both controllers at the sender. There
// is no video encoder: the flow is paced at the smaller of the delay-based and the loss-based rate.
#pragma once

#include <deque>

#include "agents/controllers/gcc/rate_control.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class Gcc final : public CongestionController {
 public:
  explicit Gcc(int64_t packet_bytes);

  [[nodiscard]] std::string_view name() const override { return "gcc"; }
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  void on_restart(Time now, Time idle) override;
  [[nodiscard]] SendLimits limits() const override { return limits_; }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Gcc>(*this);
  }

 private:
  struct Report {  // counts since the last update of the loss-based controller
    Time began{};
    int64_t acked_packets{0};
    int64_t lost_packets{0};
  };

  void on_packet_acked(Time now, Time sent_at, Time received_at, const RttStats& rtt);
  double incoming_mbps(Time received_at);
  void close_report(Time now);
  [[nodiscard]] Rate rate() const;

  int64_t packet_bytes_;
  ArrivalFilter filter_{};
  OveruseDetector detector_{};
  DelayBasedRate delay_based_;
  LossBasedRate loss_based_;
  std::deque<Time> arrivals_{};  // in the last half second, receiver's clock
  std::optional<Time> first_received_at_{};
  Report report_{};
  SendLimits limits_;
};

}  // namespace ccgym
