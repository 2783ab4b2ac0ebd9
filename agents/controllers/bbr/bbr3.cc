#include "agents/controllers/bbr/bbr3.hh"

#include <algorithm>
#include <utility>

namespace ccgym {

namespace {

using std::chrono::milliseconds;

constexpr int kStartupLostRanges = 6;  // section 5.3.1.3
constexpr int kStartupMarkedRounds = 2;
constexpr double kFullGrowth = 1.25;  // section 5.3.1.2
constexpr int kFullRounds = 3;
constexpr int kMaxDrainRounds = 3;  // section 5.3.2
constexpr int kRoundsPerEpoch = 5;  // half of the 10 rounds of section 2.12: ExtraAckedFilterLen
constexpr Time kNominalRtt = milliseconds{1};
constexpr double kHeadroom = 0.15;  // section 2.8
constexpr double kMaxQuantumBytes = 64 * 1024;

}  // namespace

Bbr3::Bbr3(int64_t packet_bytes, uint64_t seed)
    : packet_bytes_{packet_bytes},
      cwnd_bytes_{static_cast<double>(kInitialWindowPackets * packet_bytes)},
      random_{seed} {
  pace_window(kNominalRtt);
}

void Bbr3::on_sent(Time /*now*/, const SentPacket& packet) {
  if (static_cast<double>(packet.inflight_bytes) + packets(1) > cwnd_bytes_) {
    cwnd_filled_in_round_ = rounds_.count();
  }
}

// Section 5.2.3: first the losses, then the model of the path, then the control parameters.
void Bbr3::on_ack(Time now, const AckEvent& ack) {
  if (!ack.lost.empty()) respond_to_losses(now, ack);
  recovery_.episode.count(ack);
  if (!ack.acked.empty()) update_model(now, ack);
}

void Bbr3::update_model(Time now, const AckEvent& ack) {
  held_back_ = false;
  before_timeout_.reset();
  const RateSample& rate = ack.rate;
  const bool valid = rate.interval >= ack.rtt.min && rate.interval > Time::zero();
  const double bw_mbps = valid ? rate.rate().mbps() : 0;
  delivered_bytes_ = ack.delivered_bytes;
  if (rounds_.on_ack(ack)) {
    aggregation_.on_round(full_bw_reached_ ? kRoundsPerEpoch : 1);
    wait_.on_round();
  }
  marks_.on_ack(std::ssize(ack.acked), ack.ce_packets, rounds_.begins());
  update_latest_signals(ack, bw_mbps);
  aggregation_.on_ack(now, ack.acked_bytes(), bandwidth(), limits().cwnd_bytes);
  check_full_bandwidth(ack, bw_mbps);
  check_startup_losses(ack);
  check_startup_marks();
  check_drained(now, ack.inflight_bytes);
  if (full_bw_reached_ && !adapt_long_term(ack)) update_phase(now, ack, bw_mbps);
  check_marks(now, ack.newest(), rate.app_limited);
  update_min_rtt(now, ack);
  restarts_from_idle_ = false;
  if (loss_round_begins_) {
    latest_bw_mbps_ = bw_mbps;
    latest_bytes_ = static_cast<double>(rate.delivered_bytes);
  }
  set_pacing(ack.rtt);
  set_cwnd(ack);
}

// Sections 5.5.10.1 to 5.5.10.3: the latest bandwidth and inflight, and the end of a loss round.
void Bbr3::update_latest_signals(const AckEvent& ack, double bw_mbps) {
  latest_bw_mbps_ = std::max(latest_bw_mbps_, bw_mbps);
  latest_bytes_ = std::max(latest_bytes_, static_cast<double>(ack.rate.delivered_bytes));
  if (!ack.rate.app_limited || bw_mbps >= max_bw_mbps_.best()) max_bw_mbps_.update(bw_mbps);
  marked_in_round_ |= ack.ce_packets > 0;
  loss_round_begins_ = ack.rate.prior_delivered_bytes >= loss_round_ends_at_delivered_bytes_;
  if (!loss_round_begins_) return;
  loss_round_ends_at_delivered_bytes_ = ack.delivered_bytes;
  if ((lost_in_round_ || marked_in_round_) && !probes_bandwidth()) adapt_lower_bounds();
  lost_in_round_ = marked_in_round_ = false;
}

bool Bbr3::probes_bandwidth() const {
  return mode_ == Mode::startup || mode_ == Mode::refill || mode_ == Mode::up;
}

bool Bbr3::in_probe_bw() const {
  return mode_ == Mode::down || mode_ == Mode::cruise || mode_ == Mode::refill || mode_ == Mode::up;
}

// Section 5.3.1.2: the pipe is full if the bandwidth has grown by less than 25 % in three rounds.
void Bbr3::check_full_bandwidth(const AckEvent& ack, double bw_mbps) {
  if (full_bw_now_ || !rounds_.begins() || ack.rate.app_limited) return;
  if (bw_mbps >= kFullGrowth * full_bw_mbps_) return forget_full_bandwidth(bw_mbps);
  full_bw_now_ = ++full_bw_rounds_ >= kFullRounds;
  full_bw_reached_ |= full_bw_now_;
}

void Bbr3::forget_full_bandwidth(double bw_mbps) {
  full_bw_mbps_ = bw_mbps;
  full_bw_rounds_ = 0;
  full_bw_now_ = false;
}

// Section 5.3.1.3: Startup also ends after a round in loss recovery with at least six discontiguous ranges of
// lost packets and a loss rate above the threshold.
void Bbr3::check_startup_losses(const AckEvent& ack) {
  if (!loss_round_begins_) return;
  const bool many_ranges = std::exchange(lost_ranges_in_round_, 0) >= kStartupLostRanges;
  if (full_bw_reached_ || !recovery_.active || !many_ranges) return;
  if (!lost_too_much(ack.newest(), ack.declared_lost_bytes)) return;
  before_loss_.left_mode = Mode::startup;
  full_bw_now_ = full_bw_reached_ = true;
  bounds_.longterm_bytes = std::max(bdp_bytes(bandwidth()), latest_bytes_);
}

void Bbr3::check_startup_marks() {
  if (full_bw_reached_ || marks_.rounds_too_high() < kStartupMarkedRounds) return;
  full_bw_now_ = full_bw_reached_ = true;
  bounds_.longterm_bytes = std::max(bdp_bytes(bandwidth()), latest_bytes_);
}

// Section 5.3.2: enters Drain, and leaves it when the inflight is down to the BDP, or after three rounds.
void Bbr3::check_drained(Time now, int64_t inflight_bytes) {
  if (mode_ == Mode::startup && full_bw_reached_) {
    mode_ = Mode::drain;
    drain_began_in_round_ = rounds_.count();
  }
  if (mode_ != Mode::drain) return;
  const bool drained = static_cast<double>(inflight_bytes) <= with_quantum(bdp_bytes(bandwidth()));
  if (drained || rounds_.count() > drain_began_in_round_ + kMaxDrainRounds) start_down(now);
}

// Section 5.6.2: the pacing rate from cwnd, before there is a bandwidth sample.
void Bbr3::pace_window(Time rtt) {
  pacing_rate_ = Rate::of(pacing_gain() * cwnd_bytes_, std::max(rtt, Time{1}));
}

void Bbr3::set_pacing(const RttStats& rtt) {
  if (!rtt_is_known_) pace_window(rtt.smoothed);
  rtt_is_known_ = true;
  const Rate rate = kPacingMargin * (pacing_gain() * bandwidth());
  if (full_bw_reached_ || rate > pacing_rate_) pacing_rate_ = rate;
}

// Sections 5.6.4.2 to 5.6.4.7: cwnd.
void Bbr3::set_cwnd(const AckEvent& ack) {
  const auto acked_bytes = static_cast<double>(ack.acked_bytes());
  if (recovery_.active && !recovery_.episode.is_older(ack.newest().seq)) {
    recovery_.active = false;
    restore_cwnd();
  }
  const double most_bytes = with_quantum(cwnd_gain() * bdp_bytes(bandwidth()) + aggregation_.extra_bytes());
  if (full_bw_reached_) {
    cwnd_bytes_ = std::min(cwnd_bytes_ + acked_bytes, most_bytes);
  } else if (cwnd_bytes_ < most_bytes || ack.delivered_bytes < kInitialWindowPackets * packet_bytes_) {
    cwnd_bytes_ += acked_bytes;
  }
  if (mode_ == Mode::probe_rtt) cwnd_bytes_ = std::min(cwnd_bytes_, bdp_bytes(bandwidth()) / 2);
  cwnd_bytes_ = std::min(cwnd_bytes_, model_bound_bytes());
  cwnd_bytes_ = std::max(cwnd_bytes_, packets(kMinWindowPackets));
}

double Bbr3::model_bound_bytes() const {
  const bool cautious = mode_ == Mode::cruise || mode_ == Mode::probe_rtt;
  const double long_term = cautious        ? headroom_bytes()
                           : in_probe_bw() ? bounds_.longterm_bytes
                                           : InflightBounds::kNone;
  return std::min(long_term, bounds_.shortterm_bytes);
}

std::vector<Metric> Bbr3::metrics() const {
  const Time min_rtt = min_rtt_.known() ? min_rtt_.min() : Time{};
  return {{"mode", "", static_cast<double>(mode_)},
          {"max_bw", "Mbit/s", max_bw_mbps_.best()},
          {"min_rtt", "ms", in_ms(min_rtt)},
          {"inflight_longterm", "bytes", bounds_.longterm_bytes},
          {"inflight_shortterm", "bytes", bounds_.shortterm_bytes},
          {"ecn_alpha", "", marks_.alpha()}};
}

// Section 5.6.1: the table of pacing gains.
double Bbr3::pacing_gain() const {
  switch (mode_) {
    case Mode::startup:
      return 2.77;
    case Mode::drain:
      return 0.5;
    case Mode::down:
      return 0.9;
    case Mode::up:
      return 1.25;
    case Mode::cruise:
    case Mode::refill:
    case Mode::probe_rtt:
      break;
  }
  return 1;
}

double Bbr3::cwnd_gain() const { return mode_ == Mode::up ? 2.25 : 2; }

double Bbr3::bdp_bytes(Rate bw) const {
  return min_rtt_.known() ? bw.bytes_in(min_rtt_.min()) : packets(static_cast<double>(kInitialWindowPackets));
}

// Section 5.6.4.2, BBRQuantizationBudget: room for send quanta and for probing.
double Bbr3::with_quantum(double inflight_bytes) const {
  const double quantum = std::clamp(pacing_rate_.bytes_in(milliseconds{1}), packets(2), kMaxQuantumBytes);
  const double least = std::max({inflight_bytes, 3 * quantum, packets(kMinWindowPackets)});
  return least + (mode_ == Mode::up ? packets(2) : 0);
}

double Bbr3::target_inflight_bytes() const { return std::min(bdp_bytes(bandwidth()), cwnd_bytes_); }

// Section 5.3.3.9: the long-term bound less 15 %, which leaves headroom for other flows.
double Bbr3::headroom_bytes() const {
  if (bounds_.longterm_bytes == InflightBounds::kNone) return InflightBounds::kNone;
  const double left_bytes = std::max(packets(1), kHeadroom * bounds_.longterm_bytes);
  return std::max(bounds_.longterm_bytes - left_bytes, packets(kMinWindowPackets));
}

}  // namespace ccgym
