#include "agents/controllers/scream/scream.hh"

#include <algorithm>
#include <chrono>

namespace ccgym {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Section 4.1.1.1, the recommended values.
constexpr double kQdelayWeight = 0.1;             // QDELAY_WEIGHT
constexpr double kQdelayTrendThreshold = 0.2;     // QDELAY_TREND_TH
constexpr double kBetaLoss = 0.8;                 // BETA_LOSS
constexpr double kGain = 1;                       // GAIN
constexpr double kInflightHeadRoom = 1.1;         // MAX_BYTES_IN_FLIGHT_HEAD_ROOM
constexpr Time kResumeFastIncrease = seconds{5};  // T_RESUME_FAST_INCREASE
constexpr double kMinPacingMbps = 0.05;           // RATE_PACE_MIN
constexpr double kMinWindowBytes = 3000;          // MIN_CWND: the initial window as well
constexpr Time kSamplePeriod = milliseconds{50};  // of qdelay_fraction_hist and qdelay_norm_history
constexpr Time kInflightMemory = seconds{5};      // max_bytes_in_flight
constexpr Time kBaseDelayMemory = seconds{600};   // base delay, as in LEDBAT: ten minutes

// R(1) / R(0): the autocorrelation of the fractions at a lag of one sample, normalised. `fractions` is a
// ring, whose oldest element has the index `oldest`.
double lag_one_correlation(std::span<const double> fractions, std::size_t oldest) {
  double mean = 0;
  for (const double fraction : fractions) mean += fraction / static_cast<double>(fractions.size());
  double at_one = 0;
  double at_none = 0;
  for (std::size_t i = 0; i < fractions.size(); ++i) {
    const double one = fractions[(oldest + i) % fractions.size()] - mean;
    at_none += one * one;
    if (i + 1 < fractions.size()) at_one += one * (fractions[(oldest + i + 1) % fractions.size()] - mean);
  }
  return at_none > 0 ? at_one / at_none : 0;
}

}  // namespace

Scream::Scream(int64_t packet_bytes)
    : packet_bytes_{packet_bytes}, cwnd_bytes_{kMinWindowBytes}, limits_{limits_at(Time{})} {}

void Scream::on_ack(Time now, const AckEvent& ack) {
  if (!ack.lost.empty()) respond_to_losses(now, ack.lost);
  if (!ack.acked.empty()) take_delivery(now, ack);
  limits_ = limits_at(ack.rtt.smoothed);
}

void Scream::take_delivery(Time now, const AckEvent& ack) {
  observe(now, ack);
  if (now - round_trip_ended_at_ >= ack.rtt.smoothed) end_round_trip(now);
  if (now - sampled_at_ >= kSamplePeriod) sample_qdelay(now);
  newly_acked_bytes_ += ack.acked_bytes();
  grow(ack.inflight_bytes + ack.acked_bytes());
  newly_acked_bytes_ = 0;
}

void Scream::on_timeout(Time now, const Timeout& timeout) {
  respond_to_losses(now, timeout.lost);
  limits_ = limits_at(timeout.rtt.smoothed);
}

// Section 4.1.2.1: reduces the window at most once per RTT.
void Scream::respond_to_losses(Time now, std::span<const LostPacket> lost) {
  const bool is_new = std::ranges::any_of(
      lost, [this](const LostPacket& packet) { return packet.sent_at >= loss_answered_at_; });
  for (const LostPacket& packet : lost) newly_acked_bytes_ += packet.bytes;
  if (!is_new) return;
  target_.note_loss();
  loss_answered_at_ = now;
  leave_fast_increase(now);
  cwnd_bytes_ = std::max(kMinWindowBytes, kBetaLoss * cwnd_bytes_);
}

void Scream::observe(Time now, const AckEvent& ack) {
  const Time delay = ack.newest().arrived_at(now) - ack.newest().sent_at;
  base_delay_.update(now, delay, kBaseDelayMemory);
  qdelay_s_ = in_seconds(delay - base_delay_.best());
  max_inflight_.update(now, ack.inflight_bytes + ack.acked_bytes(), kInflightMemory);
}

void Scream::sample_qdelay(Time now) {
  sampled_at_ = now;
  update_trend(now);
  target_.update(qdelay_s_);
  ++samples_;
}

// Section 4.1.1.2: qdelay_trend = min(1, max(0, a * qdelay_fraction_avg)), a = R(1) / R(0).
void Scream::update_trend(Time now) {
  const double fraction = qdelay_s_ / target_.seconds();
  qdelay_fraction_avg_ += kQdelayWeight * (fraction - qdelay_fraction_avg_);
  fractions_[samples_ % kHistory] = fraction;
  const double correlation = lag_one_correlation(fractions_, (samples_ + 1) % kHistory);
  qdelay_trend_ = std::clamp(correlation * qdelay_fraction_avg_, 0.0, 1.0);
  if (qdelay_trend_ >= kQdelayTrendThreshold) leave_fast_increase(now);
  in_fast_increase_ |= now - congested_at_ >= kResumeFastIncrease;
}

void Scream::end_round_trip(Time now) {
  round_trip_ended_at_ = now;
  target_.end_round_trip();
}

void Scream::leave_fast_increase(Time now) {
  in_fast_increase_ = false;
  congested_at_ = now;
}

// Section 4.1.2.2: in fast increase by the bytes acknowledged, otherwise in proportion to the distance of the
// queuing delay from its target. The window rises only while it is used.
void Scream::grow(int64_t inflight_bytes) {
  const auto acked = static_cast<double>(newly_acked_bytes_);
  const auto inflight = static_cast<double>(inflight_bytes);
  if (in_fast_increase_) {
    if (1.5 * inflight + acked > cwnd_bytes_) cwnd_bytes_ += acked;
    return;
  }
  const double off_target = 1 - qdelay_s_ / target_.seconds();
  const bool is_used = 1.25 * inflight + acked > cwnd_bytes_;
  if (off_target <= 0 || is_used)
    cwnd_bytes_ += kGain * off_target * acked * static_cast<double>(packet_bytes_) / cwnd_bytes_;
  bound_by_inflight();
}

// Section 4.1.2.2: limits the window to little more than the largest bytes in flight of the last 5 s.
void Scream::bound_by_inflight() {
  const double most = kInflightHeadRoom * static_cast<double>(max_inflight_.best());
  cwnd_bytes_ = std::max(std::min(cwnd_bytes_, most), kMinWindowBytes);
}

// Section 4.1.2.5: while the queuing delay is within its target, one packet may be in flight beyond the
// window. Section 4.1.2.6: pacing at cwnd / s_rtt.
SendLimits Scream::limits_at(Time smoothed_rtt) const {
  const double slack = qdelay_s_ > target_.seconds() ? 0 : static_cast<double>(packet_bytes_);
  SendLimits limits{.cwnd_bytes = static_cast<int64_t>(cwnd_bytes_ + slack)};
  if (smoothed_rtt > Time{})
    limits.pacing_rate =
        Rate::from_mbps(std::max(kMinPacingMbps, cwnd_bytes_ * 8e-6 / in_seconds(smoothed_rtt)));
  return limits;
}

}  // namespace ccgym
