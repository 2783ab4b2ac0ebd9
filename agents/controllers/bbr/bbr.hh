// BBR, version 1 (Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: Congestion-Based Congestion Control",
// ACM Queue 2016; draft-cardwell-iccrg-bbr-congestion-control-00, whose section numbers are used), with
// Linux's handling of ACK aggregation and of traffic policers.
#pragma once

#include "agents/controllers/bbr/ack_aggregation.hh"
#include "agents/controllers/bbr/full_pipe.hh"
#include "agents/controllers/bbr/min_rtt_filter.hh"
#include "agents/controllers/bbr/policer.hh"
#include "agents/controllers/bbr/recent_max.hh"
#include "agents/controllers/bbr/round_counter.hh"
#include "agents/controllers/loss_episode.hh"
#include "transport/congestion_controller.hh"
#include "transport/random.hh"

namespace ccgym {

class Bbr final : public CongestionController {
 public:
  Bbr(int64_t packet_bytes, uint64_t seed);

  [[nodiscard]] std::string_view name() const override { return "bbr"; }
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override;
  void on_restart(Time now, Time idle) override;
  [[nodiscard]] SendLimits limits() const override {
    return {.cwnd_bytes = cwnd_bytes_, .pacing_rate = pacing_rate_, .holds_back = held_back_};
  }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Bbr>(*this);
  }

  enum class Mode { startup, drain, probe_bw, probe_rtt };
  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] double pacing_gain() const;

 private:
  // Loss recovery: packet conservation for a round; at the end, cwnd is restored (section 4.2.3.4).
  struct Recovery {
    bool active{false};
    bool conserving{false};
    LossEpisode episode{};
    int64_t prior_cwnd_bytes{0};
  };

  void respond_to_losses(const AckEvent& ack);
  void begin_recovery();
  void undo_losses();
  void update_model(Time now, const AckEvent& ack);
  void update_bandwidth(Time now, const AckEvent& ack);
  void update_cycle(Time now, const AckEvent& ack);
  [[nodiscard]] bool phase_is_over(Time now, const AckEvent& ack) const;
  void enter_probe_bw(Time now);
  void update_mode(Time now, const AckEvent& ack);
  void update_min_rtt(Time now, const AckEvent& ack);
  void probe_rtt(Time now, const AckEvent& ack);
  void leave_probe_rtt(Time now);
  void save_cwnd();
  void pace_window(Time rtt);
  void set_pacing(const RttStats& rtt);
  void set_cwnd(const AckEvent& ack);
  bool conserve_or_restore(const AckEvent& ack);
  [[nodiscard]] Rate bandwidth() const {
    return policer_.bandwidth().value_or(Rate::from_mbps(bw_mbps_.best()));
  }
  [[nodiscard]] double cwnd_gain() const;
  [[nodiscard]] int64_t send_quantum_packets() const;
  [[nodiscard]] int64_t inflight_bytes(double gain, double extra_bytes = 0) const;

  int64_t packet_bytes_;
  int64_t cwnd_bytes_;
  Rate pacing_rate_{};
  bool rtt_is_known_{false};
  Mode mode_{Mode::startup};
  RoundCounter rounds_{};
  RecentMax<11> bw_mbps_{};  // BtlBw: the largest delivery rate of this round and the ten before
  Policer policer_{};
  FullPipe full_pipe_{};
  AckAggregation aggregation_{};
  // RTprop; RTpropFilterLen is both window and probe interval.
  MinRttFilter min_rtt_{std::chrono::seconds{10}};
  std::optional<Time> probe_rtt_until_{};
  bool probe_rtt_round_done_{false};
  std::size_t phase_{0};  // index into the gain cycle
  Time phase_began_{};
  Recovery recovery_{};
  // To be restored if the time-out proves spurious; absent after an ACK.
  std::optional<Recovery> before_timeout_{};
  bool restarts_from_idle_{false};  // until the first ACK after an idle period
  bool held_back_{false};           // as of the last ACK: ProbeRTT limits the flow
  Random random_;
};

}  // namespace ccgym
