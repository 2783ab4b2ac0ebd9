// BBR, version 3 (draft-ietf-ccwg-bbr-06, whose section numbers and names are used). Unlike version 1 it
// probes for bandwidth less often, bounds the inflight to a level that has not caused heavy losses, and
// shares the link with loss-based flows. The response to CE marks is that of Google's version 3: see
// ecn_share.hh.
#pragma once

#include "agents/controllers/bbr/ack_aggregation.hh"
#include "agents/controllers/bbr/ecn_share.hh"
#include "agents/controllers/bbr/inflight_bounds.hh"
#include "agents/controllers/bbr/min_rtt_filter.hh"
#include "agents/controllers/bbr/probe_cycle.hh"
#include "agents/controllers/bbr/recent_max.hh"
#include "agents/controllers/bbr/round_counter.hh"
#include "agents/controllers/loss_episode.hh"
#include "transport/congestion_controller.hh"
#include "transport/random.hh"

namespace ccgym {

class Bbr3 final : public CongestionController {
 public:
  Bbr3(int64_t packet_bytes, uint64_t seed);

  [[nodiscard]] std::string_view name() const override { return "bbr3"; }
  [[nodiscard]] bool wants_ecn() const override { return true; }
  void on_sent(Time now, const SentPacket& packet) override;
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override;
  void on_restart(Time now, Time idle) override;
  [[nodiscard]] SendLimits limits() const override {
    return {.cwnd_bytes = static_cast<int64_t>(cwnd_bytes_),
            .pacing_rate = pacing_rate_,
            .holds_back = held_back_};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override;
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Bbr3>(*this);
  }

  enum class Mode { startup, drain, down, cruise, refill, up, probe_rtt };
  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] double longterm_bytes() const { return bounds_.longterm_bytes; }
  [[nodiscard]] double shortterm_bytes() const { return bounds_.shortterm_bytes; }

 private:
  static constexpr double kMinWindowPackets = 4;  // section 2.8: MinPipeCwnd
  static constexpr double kPacingMargin = 0.99;   // section 2.5: PacingMarginPercent
  static constexpr double kLossThreshold = 0.02;  // section 2.8: LossThresh
  enum class AckPhase { idle, refilling, probe_starting, probe_feedback, probe_stopping };

  struct Recovery {
    bool active{false};
    LossEpisode episode{};
  };

  // The state before a loss recovery, to be restored if its losses prove spurious (section 5.5.11.1).
  struct BeforeLoss {
    std::optional<Mode> left_mode{};  // the mode that was left because of the losses only
    InflightBounds bounds{};
  };

  // The model of the path: bbr3.cc.
  void update_latest_signals(const AckEvent& ack, double bw_mbps);
  void check_full_bandwidth(const AckEvent& ack, double bw_mbps);
  void forget_full_bandwidth(double bw_mbps);
  void check_startup_losses(const AckEvent& ack);
  void check_startup_marks();
  void check_drained(Time now, int64_t inflight_bytes);

  // Losses: bbr3_losses.cc.
  void adapt_lower_bounds();
  void respond_to_losses(Time now, const AckEvent& ack);
  void check_marks(Time now, const AckedPacket& newest, bool app_limited);
  void note_loss(const LostPacket& packet);
  void check_loss(Time now, const LostPacket& packet, int64_t lost_bytes);
  void note_losses(Time now, std::span<const LostPacket> lost, int64_t declared_lost_bytes);
  void bound_inflight(Time now, double inflight_bytes, bool app_limited);
  // IsInflightTooHigh: whether more than 2 % of the inflight at the packet's departure has been lost since.
  [[nodiscard]] static bool lost_too_much(const auto& packet, int64_t lost_bytes) {
    const auto since_departure = static_cast<double>(lost_bytes - packet.lost_bytes_at_departure);
    return since_departure > kLossThreshold * static_cast<double>(packet.inflight_bytes_at_departure);
  }
  void save_before_loss();
  void undo_losses();
  void save_cwnd();
  void restore_cwnd();

  // The min RTT and ProbeRTT: bbr3_min_rtt.cc.
  void update_min_rtt(Time now, const AckEvent& ack);
  void probe_rtt(Time now, const AckEvent& ack);
  void leave_probe_rtt(Time now);

  // The ProbeBW cycle and the long-term bound on the inflight: bbr3_probing.cc.
  bool adapt_long_term(const AckEvent& ack);
  void end_feedback(const RateSample& rate);
  void update_phase(Time now, const AckEvent& ack, double bw_mbps);
  void raise_long_term(const AckEvent& ack);
  void start_down(Time now);
  void start_refill();
  void start_up(double bw_mbps);
  [[nodiscard]] bool is_time_to_probe(Time now) const;
  [[nodiscard]] bool is_time_to_cruise(int64_t inflight_bytes) const;
  bool is_time_to_go_down(const AckEvent& ack, double bw_mbps);
  [[nodiscard]] bool fills_long_term() const;

  // Control parameters: bbr3.cc.
  void update_model(Time now, const AckEvent& ack);
  void pace_window(Time rtt);
  void set_pacing(const RttStats& rtt);
  void set_cwnd(const AckEvent& ack);
  [[nodiscard]] double model_bound_bytes() const;
  [[nodiscard]] double pacing_gain() const;
  [[nodiscard]] double cwnd_gain() const;
  [[nodiscard]] Rate bandwidth() const {
    return Rate::from_mbps(std::min(max_bw_mbps_.best(), bounds_.shortterm_bw_mbps));
  }
  [[nodiscard]] double bdp_bytes(Rate bw) const;
  [[nodiscard]] double with_quantum(double inflight_bytes) const;
  [[nodiscard]] double target_inflight_bytes() const;
  [[nodiscard]] double headroom_bytes() const;
  [[nodiscard]] double packets(double count) const { return count * static_cast<double>(packet_bytes_); }
  [[nodiscard]] bool probes_bandwidth() const;  // IsProbingBW
  [[nodiscard]] bool in_probe_bw() const;       // IsInAProbeBWState
  void start_round() { rounds_.begin_at(delivered_bytes_); }

  int64_t packet_bytes_;
  double cwnd_bytes_;
  Rate pacing_rate_{};
  bool rtt_is_known_{false};
  Mode mode_{Mode::startup};
  RoundCounter rounds_{};
  AckAggregation aggregation_{};
  Random random_;
  int64_t delivered_bytes_{0};        // total of the flow at the last ACK, for events that do not carry it
  int64_t cwnd_filled_in_round_{-2};  // the last round in which the inflight reached cwnd
  int64_t drain_began_in_round_{0};

  RecentMax<2> max_bw_mbps_{};  // BBR.max_bw: the largest delivery rate of the last two ProbeBW cycles
  double full_bw_mbps_{0};
  int full_bw_rounds_{0};
  bool full_bw_now_{false};
  bool full_bw_reached_{false};

  InflightBounds bounds_{};
  double latest_bw_mbps_{0};  // BBR.bw_latest: the largest of this loss round
  double latest_bytes_{0};    // BBR.inflight_latest: the most bytes delivered in a sample of this loss round
  int64_t loss_round_ends_at_delivered_bytes_{0};
  bool loss_round_begins_{false};
  bool lost_in_round_{false};
  bool marked_in_round_{false};
  EcnShare marks_{};

  int lost_ranges_in_round_{0};                  // discontiguous ranges of lost packets
  uint64_t lost_range_ends_at_seq_{UINT64_MAX};  // one past the packet that was declared lost last
  Recovery recovery_{};
  // To be restored if the time-out proves spurious; absent after an ACK.
  std::optional<Recovery> before_timeout_{};
  bool restarts_from_idle_{false};  // until the first ACK after an idle period
  double prior_cwnd_bytes_{0};
  BeforeLoss before_loss_{};

  AckPhase ack_phase_{AckPhase::idle};
  bool samples_probe_{false};        // BBR.bw_probe_samples: losses are attributed to the present probe
  bool probed_too_high_{false};      // BBR.prev_probe_too_high
  bool probed_with_caution_{false};  // BBR.prev_probe_precautionary
  ProbeWait wait_{};
  UpwardSlope slope_{};  // of inflight_longterm

  MinRttFilter min_rtt_{std::chrono::seconds{5}};  // section 2.16.2: ProbeRTTInterval
  std::optional<Time> probe_rtt_until_{};
  bool probe_rtt_round_done_{false};
  bool held_back_{false};  // as of the last ACK: ProbeRTT limits the flow
};

}  // namespace ccgym
