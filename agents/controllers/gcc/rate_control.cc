#include "agents/controllers/gcc/rate_control.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kGrowthPerSecond = 1.08;    // eta
constexpr double kBeta = 0.85;               // beta
constexpr double kMaxOverIncoming = 1.5;     // A_hat < 1.5 R_hat
constexpr double kDecreaseSmoothing = 0.95;  // of the mean and the variance of R_hat at decreases
constexpr double kMinVariance = 0.4e-3;      // WebRTC's bounds, 0.4 to 2.5 kbit/s: a single decrease
constexpr double kMaxVariance = 2.5e-3;      // has no variance, and the draft gives no value for it
constexpr double kDeviations = 3;            // standard deviations within which A_hat is near convergence
constexpr double kMinIncrease = 1e-3;        // Mbit/s per response time: 1000 bit/s
constexpr double kFramesPerSecond = 30;      // for the size of a packet in additive increase
constexpr double kMaxPacketBytes = 1200;     // expected_packet_size_bits: the draft's, of a video frame
constexpr double kMinRateMbps = 0.15;        // for regular feedback
constexpr double kHighLoss = 0.10;
constexpr double kLowLoss = 0.02;
constexpr double kLossGrowth = 1.05;

}  // namespace

void DelayBasedRate::update(Time now, LinkUse use, const Conditions& conditions) {
  const double elapsed_s = std::min(1.0, in_seconds(now - updated_at_));
  updated_at_ = now;
  state_ = next_state(state_, use);
  if (state_ == State::increase) increase(elapsed_s, conditions);
  if (state_ == State::decrease) decrease(conditions.incoming_mbps);
}

// Section 5.5, the table of transitions.
DelayBasedRate::State DelayBasedRate::next_state(State state, LinkUse use) {
  if (use == LinkUse::over) return State::decrease;
  if (use == LinkUse::under) return State::hold;
  return state == State::decrease ? State::hold : State::increase;
}

// Multiplicative, by eta^dt, while the capacity is unknown; additive, by half a packet per response time,
// while A_hat is near convergence. Neither depends on how often this is called.
void DelayBasedRate::increase(double elapsed_s, const Conditions& conditions) {
  if (is_near_convergence(conditions.incoming_mbps)) {
    const double response_s = 0.1 + in_seconds(conditions.rtt);
    const double frame_mbit = rate_mbps_ / kFramesPerSecond;
    const double packet_mbit = frame_mbit / std::ceil(frame_mbit / (kMaxPacketBytes * 8e-6));
    rate_mbps_ += std::min(elapsed_s / response_s, 1.0) * std::max(kMinIncrease, 0.5 * packet_mbit);
  } else {
    rate_mbps_ *= std::pow(kGrowthPerSecond, elapsed_s);
  }
  rate_mbps_ = std::min(rate_mbps_, std::max(kMaxOverIncoming * conditions.incoming_mbps, kMinRateMbps));
}

// Section 5.5: near convergence is R_hat within three standard deviations of its mean at decreases. Above
// that, the capacity has grown, and the mean is forgotten.
bool DelayBasedRate::is_near_convergence(double incoming_mbps) {
  if (!convergence_) return false;
  const double deviation_mbps = kDeviations * std::sqrt(convergence_->variance * convergence_->mean_mbps);
  if (incoming_mbps > convergence_->mean_mbps + deviation_mbps) convergence_.reset();
  return convergence_ && incoming_mbps > convergence_->mean_mbps - deviation_mbps;
}

// R_hat can exceed the sending rate while a queue drains; over-use must not raise the rate.
void DelayBasedRate::decrease(double incoming_mbps) {
  rate_mbps_ = std::max(kMinRateMbps, std::min(rate_mbps_, kBeta * incoming_mbps));
  note_decrease(incoming_mbps);
}

void DelayBasedRate::note_decrease(double incoming_mbps) {
  if (!convergence_) {
    convergence_ = {.mean_mbps = incoming_mbps, .variance = kMinVariance};
    return;
  }
  auto& [mean_mbps, variance] = *convergence_;
  mean_mbps += (1 - kDecreaseSmoothing) * (incoming_mbps - mean_mbps);
  const double error_mbps = incoming_mbps - mean_mbps;
  variance += (1 - kDecreaseSmoothing) * (error_mbps * error_mbps / mean_mbps - variance);
  variance = std::clamp(variance, kMinVariance, kMaxVariance);
}

// Section 6: A_s becomes A_s (1 - p/2) if the loss rate p is above 10 %, and 1.05 A_s if it is below 2 %.
void LossBasedRate::update(double loss_share) {
  if (loss_share > kHighLoss) {
    rate_mbps_ *= 1 - 0.5 * loss_share;
  } else if (loss_share < kLowLoss) {
    rate_mbps_ *= kLossGrowth;
  }
}

void LossBasedRate::bound(double highest_mbps) {
  rate_mbps_ = std::clamp(rate_mbps_, kMinRateMbps, highest_mbps);
}

}  // namespace ccgym
