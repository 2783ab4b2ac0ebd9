// BBR, version 1 (Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: Congestion-Based Congestion Control",
// ACM Queue 2016; draft-cardwell-iccrg-bbr-congestion-control-00, whose sections are named), with Linux's
// answers to ACK aggregation and to policers.
#pragma once

#include <random>

#include "agents/controllers/bbr/ack_aggregation.hh"
#include "agents/controllers/bbr/full_pipe.hh"
#include "agents/controllers/bbr/held_back.hh"
#include "agents/controllers/bbr/policer.hh"
#include "agents/controllers/bbr/recent_max.hh"
#include "agents/controllers/bbr/round_counter.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class Bbr final : public CongestionController {
 public:
  Bbr(int64_t packet_bytes, uint64_t seed);

  [[nodiscard]] std::string_view name() const override { return "bbr"; }
  void on_sent(Time now, const SentPacket& packet) override;
  void on_ack(Time now, const AckedPacket& reported) override;
  void on_loss(Time now, const Loss& loss) override;
  void on_spurious_timeout(Time now) override;
  [[nodiscard]] SendLimits limits() const override {
    return {.cwnd_bytes = cwnd_bytes_, .pacing_mbps = pacing_mbps_};
  }

  enum class Mode { startup, drain, probe_bw, probe_rtt };
  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] double pacing_gain() const;

 private:
  // Episode of losses: packet conservation for a round, and the window restored at its end (section 4.2.3.4).
  struct Recovery {
    bool active{false};
    bool conserving{false};
    uint64_t ends_at_seq{0};
    int64_t prior_cwnd_bytes{0};
    int64_t lost_bytes{0};  // since the last ACK
  };

  void update_bandwidth(Time now, const AckedPacket& packet);
  void update_cycle(Time now, const AckedPacket& packet);
  [[nodiscard]] bool phase_is_over(Time now, const AckedPacket& packet) const;
  void enter_probe_bw(Time now);
  void update_mode(Time now, const AckedPacket& packet);
  void update_min_rtt(Time now, const AckedPacket& packet);
  void probe_rtt(Time now, const AckedPacket& packet);
  void save_cwnd();
  void pace_window(Time rtt);
  void set_pacing(const RttStats& rtt);
  void set_cwnd(const AckedPacket& packet);
  bool conserve_or_restore(const AckedPacket& packet);
  [[nodiscard]] double bandwidth_mbps() const { return policer_.bandwidth_mbps().value_or(bw_mbps_.best()); }
  [[nodiscard]] double cwnd_gain() const;
  [[nodiscard]] int64_t send_quantum_packets() const;
  [[nodiscard]] int64_t inflight_bytes(double gain, double extra_bytes = 0) const;

  int64_t packet_bytes_;
  int64_t cwnd_bytes_;
  double pacing_mbps_{0};
  bool rtt_is_known_{false};
  Mode mode_{Mode::startup};
  RoundCounter rounds_{};
  RecentMax<11> bw_mbps_{};  // BtlBw: the largest of this round and the ten before
  HeldBack probing_rtt_{};
  Policer policer_{};
  FullPipe full_pipe_{};
  AckAggregation aggregation_{};
  Time min_rtt_{Time::max()};  // RTprop
  Time min_rtt_at_{};
  std::optional<Time> probe_rtt_until_{};
  bool probe_rtt_round_done_{false};
  std::size_t phase_{0};  // of the gain cycle
  Time phase_began_{};
  Recovery recovery_{};
  uint64_t next_seq_{0};
  int64_t delivered_bytes_{0};  // flow total
  std::minstd_rand random_;
};

}  // namespace ccgym
