// TCP Vegas (Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE
// JSAC 13(8), 1995; section numbers are the paper's): keeps two to four packets in the queue. The RTT of a
// round is its smallest sample, as in Linux and ns-3, so that one delayed ACK does not count as a queue.
#pragma once

#include "agents/controllers/fast_recovery.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class Vegas final : public CongestionController {
 public:
  explicit Vegas(int64_t packet_bytes);

  [[nodiscard]] std::string_view name() const override { return "vegas"; }
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  [[nodiscard]] SendLimits limits() const override { return {.cwnd_bytes = cwnd_bytes_}; }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Vegas>(*this);
  }

 private:
  struct Round {
    uint64_t end_seq{0};  // the ACK of this packet, or of a later one, ends the round
    Time min_rtt{Time::max()};
    int samples{0};
  };

  void respond_to_losses(const AckEvent& ack);
  void end_round(const AckEvent& ack);
  void slow_start(const AckEvent& ack);
  void adjust(double in_queue_packets);
  [[nodiscard]] double queued_packets(Time base_rtt, Time rtt) const;

  int64_t packet_bytes_;
  int64_t cwnd_bytes_;
  int64_t ssthresh_bytes_;
  Round round_{};
  bool slow_start_grows_{true};  // in this round: slow start grows in every other one
  bool timed_out_{false};        // no packet has been acknowledged since the last time-out
  FastRecovery recovery_;
};

}  // namespace ccgym
