#include "agents/controllers/bbr/bbr3.hh"

#include <algorithm>

namespace ccgym {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kInitialWindowPackets = 10;  // RFC 6928
constexpr double kMinWindowPackets = 4;       // section 2.7: MinPipeCwnd
constexpr double kBeta = 0.7;                 // section 2.7: of the short-term bounds
constexpr double kLossThreshold = 0.02;       // section 2.7: LossThresh
constexpr int kStartupLossEvents = 6;         // section 5.3.1.3
constexpr double kFullGrowth = 1.25;          // section 5.3.1.2
constexpr int kFullRounds = 3;
constexpr double kPacingMargin = 0.99;  // section 2.5: PacingMarginPercent
constexpr Time kNominalRtt = milliseconds{1};
constexpr Time kMinRttWindow = seconds{10};     // section 2.15: MinRTTFilterLen
constexpr Time kProbeRttInterval = seconds{5};  // section 2.16
constexpr Time kProbeRttTime = milliseconds{200};
constexpr double kHeadroom = 0.15;  // section 2.7
constexpr double kMaxQuantumBytes = 64 * 1024;

double bytes_in(double rate_mbps, Time time) { return rate_mbps * static_cast<double>(time.count()) / 8e3; }

}  // namespace

Bbr3::Bbr3(int64_t packet_bytes, uint64_t seed)
    : packet_bytes_{packet_bytes},
      cwnd_bytes_{kInitialWindowPackets * static_cast<double>(packet_bytes)},
      random_{static_cast<std::minstd_rand::result_type>(seed)} {
  set_pacing({.latest = {}, .smoothed = kNominalRtt, .min = {}});
}

void Bbr3::on_sent(Time /*now*/, const SentPacket& packet) {
  next_seq_ = packet.seq + 1;
  sent_.add({packet.seq, packet.inflight_bytes, total_lost_bytes_}, packet_bytes_);
}

// Section 5.2.3: the model first, then the parameters that follow from it.
void Bbr3::on_ack(Time now, const AckedPacket& packet) {
  const RateSample& rate = packet.rate;
  const bool valid = rate.interval >= packet.rtt.min && rate.interval > Time::zero();
  const double bw_mbps =
      valid ? static_cast<double>(rate.delivered_bytes) * 8e3 / static_cast<double>(rate.interval.count())
            : 0;
  delivered_bytes_ = packet.delivered_bytes;
  if (rounds_.on_ack(packet)) {
    aggregation_.on_round();
    ++rounds_since_probe_;
  }
  update_latest_signals(packet, bw_mbps);
  aggregation_.on_ack(now, packet.bytes, bandwidth_mbps(), limits().cwnd_bytes);
  check_full_bandwidth(packet, bw_mbps);
  check_startup_losses(packet);
  if (mode_ == Mode::startup && full_bw_reached_) mode_ = Mode::drain;
  const double drained_bytes = with_quantum(bdp_bytes(max_bw_mbps_.best()));
  if (mode_ == Mode::drain && static_cast<double>(packet.inflight_bytes) <= drained_bytes) start_down(now);
  if (full_bw_reached_) {
    adapt_long_term(now, packet);
    update_phase(now, packet, bw_mbps);
  }
  update_min_rtt(now, packet);
  if (loss_round_begins_) {
    latest_bw_mbps_ = bw_mbps;
    latest_bytes_ = static_cast<double>(rate.delivered_bytes);
  }
  set_pacing(packet.rtt);
  set_cwnd(packet);
  lost_since_ack_bytes_ = 0;
  if (rounds_.begins()) lost_in_round_bytes_ = loss_events_in_round_ = 0;
}

void Bbr3::on_loss(Time now, const Loss& loss) {
  lost_in_round_ = true;
  ++loss_events_in_round_;
  for (const LostPacket& packet : loss.packets) {
    total_lost_bytes_ += packet.bytes;
    lost_since_ack_bytes_ += packet.bytes;
    lost_in_round_bytes_ += packet.bytes;
    if (samples_probe_) judge_loss(now, packet);
  }
  const auto is_new = [this](const LostPacket& packet) { return packet.seq >= recovery_ends_; };
  if (loss.timeout || std::ranges::any_of(loss.packets, is_new)) begin_recovery(loss);
}

void Bbr3::begin_recovery(const Loss& loss) {
  save_cwnd();
  recovering_ = true;
  recovery_ends_ = next_seq_;
  if (!loss.timeout) return;
  cwnd_bytes_ = static_cast<double>(loss.inflight_bytes) + packets(1);
  lost_since_ack_bytes_ = 0;
}

// Sections 5.5.10.1 to 5.5.10.3.
void Bbr3::update_latest_signals(const AckedPacket& packet, double bw_mbps) {
  latest_bw_mbps_ = std::max(latest_bw_mbps_, bw_mbps);
  latest_bytes_ = std::max(latest_bytes_, static_cast<double>(packet.rate.delivered_bytes));
  if (!packet.rate.app_limited || bw_mbps >= max_bw_mbps_.best()) max_bw_mbps_.update(bw_mbps);
  loss_round_begins_ = packet.rate.prior_delivered_bytes >= loss_round_ends_;
  if (!loss_round_begins_) return;
  loss_round_ends_ = packet.delivered_bytes;
  if (lost_in_round_ && !probes_bandwidth()) adapt_lower_bounds();
  lost_in_round_ = false;
}

void Bbr3::adapt_lower_bounds() {
  if (short_bw_mbps_ == kNoBound) short_bw_mbps_ = max_bw_mbps_.best();
  if (short_bytes_ == kNoBound) short_bytes_ = cwnd_bytes_;
  short_bw_mbps_ = std::max(latest_bw_mbps_, kBeta * short_bw_mbps_);
  short_bytes_ = std::max(latest_bytes_, kBeta * short_bytes_);
}

bool Bbr3::probes_bandwidth() const {
  return mode_ == Mode::startup || mode_ == Mode::refill || mode_ == Mode::up;
}

// Section 5.3.1.2.
void Bbr3::check_full_bandwidth(const AckedPacket& packet, double bw_mbps) {
  if (full_bw_now_ || !rounds_.begins() || packet.rate.app_limited) return;
  if (bw_mbps >= kFullGrowth * full_bw_mbps_) return forget_full_bandwidth(bw_mbps);
  full_bw_now_ = ++full_bw_rounds_ >= kFullRounds;
  full_bw_reached_ |= full_bw_now_;
}

void Bbr3::forget_full_bandwidth(double bw_mbps) {
  full_bw_mbps_ = bw_mbps;
  full_bw_rounds_ = 0;
  full_bw_now_ = false;
}

// Section 5.3.1.3.
void Bbr3::check_startup_losses(const AckedPacket& packet) {
  if (full_bw_reached_ || !rounds_.begins() || loss_events_in_round_ < kStartupLossEvents) return;
  const double flight_bytes = static_cast<double>(packet.inflight_bytes + lost_in_round_bytes_);
  if (static_cast<double>(lost_in_round_bytes_) <= kLossThreshold * flight_bytes) return;
  full_bw_reached_ = true;
  longterm_bytes_ = std::max(bdp_bytes(max_bw_mbps_.best()), latest_bytes_);
}

// Section 5.3.4.3.
void Bbr3::update_min_rtt(Time now, const AckedPacket& packet) {
  const bool probe_is_due = now > recent_min_rtt_at_ + kProbeRttInterval;
  if (packet.rtt.latest < recent_min_rtt_ || probe_is_due) {
    recent_min_rtt_ = packet.rtt.latest;
    recent_min_rtt_at_ = now;
  }
  if (recent_min_rtt_ < min_rtt_ || now > min_rtt_at_ + kMinRttWindow) {
    min_rtt_ = recent_min_rtt_;
    min_rtt_at_ = recent_min_rtt_at_;
  }
  if (probe_is_due && mode_ != Mode::probe_rtt) {
    save_cwnd();
    mode_ = Mode::probe_rtt;
    probe_rtt_until_.reset();
    ack_phase_ = AckPhase::probe_stopping;
    start_round();
  }
  if (mode_ == Mode::probe_rtt) probe_rtt(now, packet);
}

// Section 5.3.4.4: 200 ms and a round trip with half of the BDP in flight.
void Bbr3::probe_rtt(Time now, const AckedPacket& packet) {
  const double probing_bytes = std::max(bdp_bytes(bandwidth_mbps()) / 2, packets(kMinWindowPackets));
  if (!probe_rtt_until_) {
    if (static_cast<double>(packet.inflight_bytes) > probing_bytes) return;
    probe_rtt_until_ = now + kProbeRttTime;
    probe_rtt_round_done_ = false;
    return start_round();
  }
  probe_rtt_round_done_ |= rounds_.begins();
  if (!probe_rtt_round_done_ || now <= *probe_rtt_until_) return;
  recent_min_rtt_at_ = now;
  cwnd_bytes_ = std::max(cwnd_bytes_, prior_cwnd_bytes_);
  forget_short_term();
  if (!full_bw_reached_) {
    mode_ = Mode::startup;
    return;
  }
  start_down(now);
  mode_ = Mode::cruise;
}

void Bbr3::forget_short_term() { short_bw_mbps_ = short_bytes_ = kNoBound; }

void Bbr3::save_cwnd() {
  const bool reduced = recovering_ || mode_ == Mode::probe_rtt;
  prior_cwnd_bytes_ = reduced ? std::max(prior_cwnd_bytes_, cwnd_bytes_) : cwnd_bytes_;
}

// Section 5.6.2.
void Bbr3::set_pacing(const RttStats& rtt) {
  if (max_bw_mbps_.best() == 0) {
    const auto rtt_ns = static_cast<double>(std::max(rtt.smoothed, Time{1}).count());
    pacing_mbps_ = pacing_gain() * cwnd_bytes_ * 8e3 / rtt_ns;
    return;
  }
  const double mbps = pacing_gain() * bandwidth_mbps() * kPacingMargin;
  if (full_bw_reached_ || mbps > *pacing_mbps_) pacing_mbps_ = mbps;
}

// Sections 5.6.4.2 to 5.6.4.7.
void Bbr3::set_cwnd(const AckedPacket& packet) {
  const auto acked_bytes = static_cast<double>(packet.bytes);
  cwnd_bytes_ = std::max(cwnd_bytes_ - static_cast<double>(lost_since_ack_bytes_), packets(1));
  if (recovering_ && packet.seq >= recovery_ends_) {
    recovering_ = false;
    cwnd_bytes_ = std::max(cwnd_bytes_, prior_cwnd_bytes_);
  }
  const double most_bytes =
      with_quantum(cwnd_gain() * bdp_bytes(bandwidth_mbps()) + aggregation_.extra_bytes());
  if (full_bw_reached_) {
    cwnd_bytes_ = std::min(cwnd_bytes_ + acked_bytes, most_bytes);
  } else if (cwnd_bytes_ < most_bytes ||
             static_cast<double>(packet.delivered_bytes) < packets(kInitialWindowPackets)) {
    cwnd_bytes_ += acked_bytes;
  }
  if (mode_ == Mode::probe_rtt) cwnd_bytes_ = std::min(cwnd_bytes_, bdp_bytes(bandwidth_mbps()) / 2);
  cwnd_bytes_ = std::min(cwnd_bytes_, model_bound_bytes());
  cwnd_bytes_ = std::max(cwnd_bytes_, packets(kMinWindowPackets));
}

double Bbr3::model_bound_bytes() const {
  const bool cautious = mode_ == Mode::cruise || mode_ == Mode::probe_rtt;
  const bool probing = mode_ == Mode::down || mode_ == Mode::refill || mode_ == Mode::up;
  const double long_term = cautious ? headroom_bytes() : probing ? longterm_bytes_ : kNoBound;
  return std::min(long_term, short_bytes_);
}

// Section 5.1.1's table.
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

double Bbr3::bdp_bytes(double bw_mbps) const {
  return min_rtt_ == Time::max() ? packets(kInitialWindowPackets) : bytes_in(bw_mbps, min_rtt_);
}

// Section 5.6.4.2: BBRQuantizationBudget.
double Bbr3::with_quantum(double inflight_bytes) const {
  const double quantum = std::clamp(bytes_in(*pacing_mbps_, milliseconds{1}), packets(2), kMaxQuantumBytes);
  const double least = std::max({inflight_bytes, 3 * quantum, packets(kMinWindowPackets)});
  return least + (mode_ == Mode::up ? packets(2) : 0);
}

double Bbr3::target_inflight_bytes() const { return std::min(bdp_bytes(bandwidth_mbps()), cwnd_bytes_); }

// Section 5.3.3.5: room for others below the bound.
double Bbr3::headroom_bytes() const {
  if (longterm_bytes_ == kNoBound) return kNoBound;
  const double left_bytes = std::max(packets(1), kHeadroom * longterm_bytes_);
  return std::max(longterm_bytes_ - left_bytes, packets(kMinWindowPackets));
}

}  // namespace ccgym
