#include "agents/controllers/bbr/bbr.hh"

#include <algorithm>
#include <array>
#include <utility>

namespace ccgym {

namespace {

using std::chrono::milliseconds;

constexpr int64_t kMinWindowPackets = 4;  // BBRMinPipeCwnd
constexpr double kHighGain = 2.885;       // 2 / ln 2: the rate doubles in every round
constexpr double kCwndGain = 2;           // section 4.2.3.2
constexpr std::array kPacingGains{1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};  // section 4.3.4.1
constexpr double kPacingMargin = 0.99;               // Linux: 1 % below the bandwidth
constexpr Time kProbeRttTime = milliseconds{200};    // section 4.3.5
constexpr Time kMaxAggregation = milliseconds{100};  // Linux: extra_acked as a time
constexpr Time kNominalRtt = milliseconds{1};        // section 4.2.1
constexpr Rate kSlow = Rate::from_mbps(1.2);         // section 4.2.2: send quantum
constexpr double kMaxQuantumBytes = 64 * 1024;

}  // namespace

Bbr::Bbr(int64_t packet_bytes, uint64_t seed)
    : packet_bytes_{packet_bytes}, cwnd_bytes_{kInitialWindowPackets * packet_bytes}, random_{seed} {
  pace_window(kNominalRtt);
}

void Bbr::on_ack(Time now, const AckEvent& ack) {
  if (!ack.lost.empty()) respond_to_losses(ack);
  if (!ack.acked.empty()) update_model(now, ack);
}

void Bbr::update_model(Time now, const AckEvent& ack) {
  held_back_ = false;
  before_timeout_.reset();
  if (rounds_.on_ack(ack)) {
    bw_mbps_.advance();
    aggregation_.on_round();
    recovery_.conserving = false;
  }
  update_bandwidth(now, ack);
  aggregation_.on_ack(now, ack.acked_bytes(), bandwidth(), cwnd_bytes_);
  update_cycle(now, ack);
  update_mode(now, ack);
  update_min_rtt(now, ack);
  restarts_from_idle_ = false;
  set_pacing(ack.rtt);
  set_cwnd(ack);
}

// Section 4.2.3.4: cwnd shrinks by the lost packets, with packet conservation in the first round of an
// episode.
void Bbr::respond_to_losses(const AckEvent& ack) {
  if (recovery_.episode.begins_with(ack.lost)) {
    if (!recovery_.active) rounds_.begin_at(ack.delivered_bytes - ack.acked_bytes());
    recovery_.episode.begin_or_extend(ack.next_seq, recovery_.active);
    begin_recovery();
    recovery_.conserving = true;
    cwnd_bytes_ = ack.inflight_bytes + packet_bytes_;
  } else {
    cwnd_bytes_ = std::max(cwnd_bytes_ - ack.lost_bytes(), packet_bytes_);
  }
  recovery_.episode.count(ack);
}

void Bbr::on_timeout(Time /*now*/, const Timeout& timeout) {
  if (!before_timeout_) before_timeout_ = recovery_;
  recovery_.episode.abandon(timeout.next_seq);
  begin_recovery();
  recovery_.conserving = false;
  cwnd_bytes_ = packet_bytes_;
  full_pipe_.forget_growth();
}

void Bbr::begin_recovery() {
  save_cwnd();
  recovery_.active = true;
}

// Undoes the response to an episode of which all losses have proved spurious, or to a spurious time-out;
// after the latter, a recovery that it interrupted goes on.
void Bbr::on_spurious_loss(Time /*now*/, const SpuriousLoss& loss) {
  if (recovery_.episode.undone_by(loss.seq)) {
    undo_losses();
    recovery_.active = recovery_.conserving = false;
  }
  if (!loss.timeout || !before_timeout_) return;
  undo_losses();
  recovery_ = *std::exchange(before_timeout_, std::nullopt);
}

// Linux, bbr_undo_cwnd: forgets the conclusions from the losses, that the pipe is full or that there is a
// policer.
void Bbr::undo_losses() {
  cwnd_bytes_ = std::max(cwnd_bytes_, recovery_.prior_cwnd_bytes);
  full_pipe_.forget_growth();
  policer_.forget();
}

// Linux: after an idle period there is no queue. Pacing at the bandwidth fills the pipe without building one,
// and the min RTT is measured without ProbeRTT.
void Bbr::on_restart(Time now, Time /*idle*/) {
  restarts_from_idle_ = true;
  aggregation_.restart(now);
  if (mode_ == Mode::probe_bw) pacing_rate_ = kPacingMargin * bandwidth();
  if (mode_ == Mode::probe_rtt && probe_rtt_until_ && now > *probe_rtt_until_) leave_probe_rtt(now);
}

double Bbr::pacing_gain() const {
  switch (mode_) {
    case Mode::startup:
      return kHighGain;
    case Mode::drain:
      return 1 / kHighGain;
    case Mode::probe_bw:
      return policer_.bandwidth() ? 1 : kPacingGains[phase_];
    case Mode::probe_rtt:
      break;
  }
  return 1;
}

double Bbr::cwnd_gain() const {
  return mode_ == Mode::probe_bw ? kCwndGain : mode_ == Mode::probe_rtt ? 1 : kHighGain;
}

// Samples over an interval shorter than the min RTT are an artefact of ACKs that arrive in a burst (Linux).
void Bbr::update_bandwidth(Time now, const AckEvent& ack) {
  const RateSample& rate = ack.rate;
  const bool probing = mode_ == Mode::probe_bw;
  const Policer::Delivery delivery{.now = now,
                                   .delivered_bytes = ack.delivered_bytes,
                                   .declared_lost_bytes = ack.declared_lost_bytes,
                                   .round_begins = rounds_.begins(),
                                   .app_limited = rate.app_limited};
  if (policer_.on_delivery(delivery, probing)) enter_probe_bw(now);
  if (rate.interval < ack.rtt.min || rate.interval <= Time::zero()) return;
  const double bw_mbps = rate.rate().mbps();
  if (!rate.app_limited || bw_mbps >= bw_mbps_.best()) bw_mbps_.update(bw_mbps);
}

// Section 4.3.4.3: the next phase of the gain cycle.
void Bbr::update_cycle(Time now, const AckEvent& ack) {
  if (mode_ != Mode::probe_bw || !phase_is_over(now, ack)) return;
  phase_ = (phase_ + 1) % kPacingGains.size();
  phase_began_ = now;
}

bool Bbr::phase_is_over(Time now, const AckEvent& ack) const {
  const bool round_trip = now - phase_began_ > min_rtt_.min();
  const int64_t prior_inflight = ack.inflight_bytes + ack.acked_bytes() + ack.lost_bytes();
  const double gain = pacing_gain();
  if (gain > 1) return round_trip && (!ack.lost.empty() || prior_inflight >= inflight_bytes(gain));
  if (gain < 1) return round_trip || prior_inflight <= inflight_bytes(1);
  return round_trip;
}

// Section 4.3.4.3: begins the gain cycle at a random phase other than the draining one.
void Bbr::enter_probe_bw(Time now) {
  mode_ = Mode::probe_bw;
  const std::size_t back = random_.bits() % (kPacingGains.size() - 1);
  phase_ = (kPacingGains.size() - back) % kPacingGains.size();
  phase_began_ = now;
}

void Bbr::update_mode(Time now, const AckEvent& ack) {
  if (rounds_.begins() && !full_pipe_.reached() && !ack.rate.app_limited) {
    full_pipe_.on_round(bw_mbps_.best());
  }
  if (mode_ == Mode::startup && full_pipe_.reached()) mode_ = Mode::drain;
  if (mode_ == Mode::drain && ack.inflight_bytes <= inflight_bytes(1)) enter_probe_bw(now);
}

// Section 4.1.2: RTprop, and whether to enter ProbeRTT.
void Bbr::update_min_rtt(Time now, const AckEvent& ack) {
  const bool probe_is_due = min_rtt_.update(now, ack.rtt.latest);
  if (probe_is_due && !restarts_from_idle_ && mode_ != Mode::probe_rtt) {
    save_cwnd();
    mode_ = Mode::probe_rtt;
    probe_rtt_until_.reset();
  }
  if (mode_ == Mode::probe_rtt) probe_rtt(now, ack);
}

// Section 4.3.5: at least 200 ms and a round trip with at most four packets in flight.
void Bbr::probe_rtt(Time now, const AckEvent& ack) {
  held_back_ = true;
  if (!probe_rtt_until_) {
    if (ack.inflight_bytes > kMinWindowPackets * packet_bytes_) return;
    probe_rtt_until_ = now + kProbeRttTime;
    probe_rtt_round_done_ = false;
    rounds_.begin_at(ack.delivered_bytes);
    return;
  }
  probe_rtt_round_done_ |= rounds_.begins();
  if (probe_rtt_round_done_ && now > *probe_rtt_until_) leave_probe_rtt(now);
}

void Bbr::leave_probe_rtt(Time now) {
  min_rtt_.on_probed(now);
  cwnd_bytes_ = std::max(cwnd_bytes_, recovery_.prior_cwnd_bytes);
  full_pipe_.reached() ? enter_probe_bw(now) : void(mode_ = Mode::startup);
}

void Bbr::save_cwnd() {
  const bool reduced = recovery_.active || mode_ == Mode::probe_rtt;
  recovery_.prior_cwnd_bytes = reduced ? std::max(recovery_.prior_cwnd_bytes, cwnd_bytes_) : cwnd_bytes_;
}

// Section 4.2.1: the pacing rate from cwnd, before there is a bandwidth sample.
void Bbr::pace_window(Time rtt) {
  const Rate window = Rate::of(static_cast<double>(cwnd_bytes_), std::max(rtt, Time{1}));
  pacing_rate_ = kPacingMargin * (kHighGain * window);
}

// Section 4.2.1. The first RTT sets the pacing rate of the initial window; after that, the rate does not fall
// until the pipe is full.
void Bbr::set_pacing(const RttStats& rtt) {
  if (!rtt_is_known_) pace_window(rtt.smoothed);
  rtt_is_known_ = true;
  const Rate rate = kPacingMargin * (pacing_gain() * bandwidth());
  if (full_pipe_.reached() || rate > pacing_rate_) pacing_rate_ = rate;
}

// Section 4.2.3: cwnd.
void Bbr::set_cwnd(const AckEvent& ack) {
  const int64_t least = kMinWindowPackets * packet_bytes_;
  if (!conserve_or_restore(ack)) {
    const double extra = full_pipe_.reached()
                             ? std::min(aggregation_.extra_bytes(), bandwidth().bytes_in(kMaxAggregation))
                             : 0;
    const int64_t target = inflight_bytes(cwnd_gain(), extra);
    if (full_pipe_.reached()) {
      cwnd_bytes_ = std::min(cwnd_bytes_ + ack.acked_bytes(), target);
    } else if (cwnd_bytes_ < target || ack.delivered_bytes < kInitialWindowPackets * packet_bytes_) {
      cwnd_bytes_ += ack.acked_bytes();
    }
    cwnd_bytes_ = std::max(cwnd_bytes_, least);
  }
  if (mode_ == Mode::probe_rtt) cwnd_bytes_ = std::min(cwnd_bytes_, least);
}

// Section 4.2.3.4: packet conservation, and the end of recovery. Returns true while packet conservation sets
// cwnd.
bool Bbr::conserve_or_restore(const AckEvent& ack) {
  if (recovery_.active && !recovery_.episode.is_older(ack.newest().seq)) {
    recovery_.active = recovery_.conserving = false;
    cwnd_bytes_ = std::max(cwnd_bytes_, recovery_.prior_cwnd_bytes);
  }
  if (recovery_.conserving) cwnd_bytes_ = std::max(cwnd_bytes_, ack.inflight_bytes + ack.acked_bytes());
  return recovery_.conserving;
}

int64_t Bbr::send_quantum_packets() const {
  const int64_t least = pacing_rate_ < kSlow ? 1 : 2;
  const double most_bytes = std::min(pacing_rate_.bytes_in(milliseconds{1}), kMaxQuantumBytes);
  return std::max(static_cast<int64_t>(most_bytes / static_cast<double>(packet_bytes_)), least);
}

// Section 4.2.3.2, BBRInflight: gain times the BDP, with room for three send quanta. Rounded up to an even
// number of packets (Linux), because receivers with delayed ACKs acknowledge every second packet.
int64_t Bbr::inflight_bytes(double gain, double extra_bytes) const {
  if (!min_rtt_.known()) return kInitialWindowPackets * packet_bytes_;
  const double bdp_packets =
      (gain * bandwidth().bytes_in(min_rtt_.min()) + extra_bytes) / static_cast<double>(packet_bytes_);
  const auto whole_packets = static_cast<int64_t>(bdp_packets);
  const int64_t part_packet = bdp_packets > static_cast<double>(whole_packets) ? 1 : 0;
  const int64_t packets = whole_packets + part_packet + 3 * send_quantum_packets();
  const int64_t probe_packets = mode_ == Mode::probe_bw && phase_ == 0 ? 2 : 0;
  return (packets + packets % 2 + probe_packets) * packet_bytes_;
}

}  // namespace ccgym
