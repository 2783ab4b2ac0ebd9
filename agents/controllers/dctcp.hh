// DCTCP (RFC 8257): NewReno, whose response to CE marks is in proportion to the fraction of marked packets.
#pragma once

#include "agents/controllers/new_reno.hh"
#include "transport/forwarding_controller.hh"

namespace ccgym {

class Dctcp final : public ForwardingController<NewReno> {
 public:
  explicit Dctcp(int64_t packet_bytes) : ForwardingController{NewReno{packet_bytes}} {}

  [[nodiscard]] std::string_view name() const override { return "dctcp"; }
  void on_ack(Time now, const AckEvent& ack) override;
  [[nodiscard]] std::vector<Metric> metrics() const override;
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Dctcp>(*this);
  }

  [[nodiscard]] double alpha() const { return alpha_; }

 private:
  void update_alpha(const AckEvent& ack);

  double alpha_{1};  // moving average of the fraction of marked packets; section 4.2: initially 1
  int64_t acked_packets_{0};
  int64_t marked_packets_{0};
  uint64_t window_ends_at_seq_{0};  // the ACK of this packet, or of a later one, ends the window of data
};

}  // namespace ccgym
