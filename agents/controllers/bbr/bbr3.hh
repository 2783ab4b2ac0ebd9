// BBR, version 3 (draft-ietf-ccwg-bbr, whose sections and names are used): bandwidth is probed for less often
// than in version 1, bounded by the inflight that was found to cause losses, and shared with loss-based
// flows.
#pragma once

#include <limits>
#include <random>

#include "agents/controllers/bbr/ack_aggregation.hh"
#include "agents/controllers/bbr/recent_max.hh"
#include "agents/controllers/bbr/round_counter.hh"
#include "agents/controllers/bbr/sent_records.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class Bbr3 final : public CongestionController {
 public:
  Bbr3(int64_t packet_bytes, uint64_t seed);

  [[nodiscard]] std::string_view name() const override { return "bbr3"; }
  void on_sent(Time now, const SentPacket& packet) override;
  void on_ack(Time now, const AckedPacket& packet) override;
  void on_loss(Time now, const Loss& loss) override;
  [[nodiscard]] SendLimits limits() const override {
    return {.cwnd_bytes = static_cast<int64_t>(cwnd_bytes_), .pacing_mbps = pacing_mbps_};
  }

  enum class Mode { startup, drain, down, cruise, refill, up, probe_rtt };
  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] double longterm_bytes() const { return longterm_bytes_; }

 private:
  static constexpr double kNoBound = std::numeric_limits<double>::infinity();
  enum class AckPhase { idle, refilling, probe_starting, probe_feedback, probe_stopping };

  // Signals of the path: bbr3.cc.
  void update_latest_signals(const AckedPacket& packet, double bw_mbps);
  void adapt_lower_bounds();
  void check_full_bandwidth(const AckedPacket& packet, double bw_mbps);
  void forget_full_bandwidth(double bw_mbps);
  void check_startup_losses(const AckedPacket& packet);
  void update_min_rtt(Time now, const AckedPacket& packet);
  void probe_rtt(Time now, const AckedPacket& packet);
  void forget_short_term();
  void begin_recovery(const Loss& loss);
  void save_cwnd();

  // The cycle of probing, and the bound that it learns: bbr3_probing.cc.
  void adapt_long_term(Time now, const AckedPacket& packet);
  void update_phase(Time now, const AckedPacket& packet, double bw_mbps);
  void judge_loss(Time now, const LostPacket& packet);
  void bound_inflight(Time now, double inflight_bytes);
  void raise_long_term(const AckedPacket& packet);
  void steepen();
  void start_down(Time now);
  void start_refill();
  void start_up(double bw_mbps);
  [[nodiscard]] bool is_time_to_probe(Time now) const;
  [[nodiscard]] bool is_time_to_cruise(int64_t inflight_bytes) const;
  bool is_time_to_go_down(const AckedPacket& packet, double bw_mbps);
  [[nodiscard]] bool fills_long_term(const AckedPacket& packet) const;

  // Control parameters: bbr3.cc.
  void set_pacing(const RttStats& rtt);
  void set_cwnd(const AckedPacket& packet);
  [[nodiscard]] double model_bound_bytes() const;
  [[nodiscard]] double pacing_gain() const;
  [[nodiscard]] double cwnd_gain() const;
  [[nodiscard]] double bandwidth_mbps() const { return std::min(max_bw_mbps_.best(), short_bw_mbps_); }
  [[nodiscard]] double bdp_bytes(double bw_mbps) const;
  [[nodiscard]] double with_quantum(double inflight_bytes) const;
  [[nodiscard]] double target_inflight_bytes() const;
  [[nodiscard]] double headroom_bytes() const;
  [[nodiscard]] double packets(double count) const { return count * static_cast<double>(packet_bytes_); }
  [[nodiscard]] bool probes_bandwidth() const;
  void start_round() { rounds_.begin_at(delivered_bytes_); }

  int64_t packet_bytes_;
  double cwnd_bytes_;
  std::optional<double> pacing_mbps_{};
  Mode mode_{Mode::startup};
  RoundCounter rounds_{};
  AckAggregation aggregation_{};
  SentRecords sent_{};
  std::minstd_rand random_;
  uint64_t next_seq_{0};
  int64_t delivered_bytes_{0};

  RecentMax<2> max_bw_mbps_{};  // of two probing cycles
  double full_bw_mbps_{0};
  int full_bw_rounds_{0};
  bool full_bw_now_{false};
  bool full_bw_reached_{false};

  double short_bw_mbps_{kNoBound};  // bw_shortterm, inflight_shortterm: until the next probing
  double short_bytes_{kNoBound};
  double longterm_bytes_{kNoBound};  // inflight_longterm
  double latest_bw_mbps_{0};
  double latest_bytes_{0};
  int64_t loss_round_ends_{0};
  bool loss_round_begins_{false};
  bool lost_in_round_{false};

  int64_t total_lost_bytes_{0};
  int64_t lost_since_ack_bytes_{0};
  int64_t lost_in_round_bytes_{0};
  int loss_events_in_round_{0};
  bool recovering_{false};
  uint64_t recovery_ends_{0};
  double prior_cwnd_bytes_{0};

  AckPhase ack_phase_{AckPhase::idle};
  bool samples_probe_{false};  // BBR.bw_probe_samples: a loss tells of the present probing
  Time cycle_began_{};
  Time probe_wait_{};
  int rounds_since_probe_{0};
  int up_rounds_{0};
  double up_acked_bytes_{0};
  double up_bytes_per_packet_{kNoBound};  // acked, for one more packet of inflight_longterm

  Time min_rtt_{Time::max()};
  Time min_rtt_at_{};
  Time recent_min_rtt_{Time::max()};  // probe_rtt_min_delay
  Time recent_min_rtt_at_{};
  std::optional<Time> probe_rtt_until_{};
  bool probe_rtt_round_done_{false};
};

}  // namespace ccgym
