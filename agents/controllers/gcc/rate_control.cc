#include "agents/controllers/gcc/rate_control.hh"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kGrowthPerSecond = 1.08;    // eta
constexpr double kBeta = 0.85;               // beta
constexpr double kMaxOverIncoming = 1.5;     // A_hat < 1.5 R_hat
constexpr double kDecreaseSmoothing = 0.95;  // of the mean at decreases
constexpr double kDeviations = 3;            // of it, within which convergence is near
constexpr double kFramesPerSecond = 30;      // for the size of a packet in additive increase
constexpr double kMaxPacketBytes = 1200;     // expected_packet_size_bits
constexpr double kMinRateMbps = 0.15;        // so that feedback keeps coming
constexpr double kHighLoss = 0.10;
constexpr double kLowLoss = 0.02;
constexpr double kLossGrowth = 1.05;

double seconds_of(Time time) { return std::chrono::duration<double>{time}.count(); }

}  // namespace

void DelayBasedRate::update(Time now, LinkUse use, const Conditions& conditions) {
  const double elapsed_s = std::min(1.0, seconds_of(now - updated_at_));
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

// eta^dt where the capacity is unknown; about half a packet per response time where it is near.
void DelayBasedRate::increase(double elapsed_s, const Conditions& conditions) {
  if (is_near_convergence(conditions.incoming_mbps)) {
    const double response_s = 0.1 + seconds_of(conditions.rtt);
    const double alpha = 0.5 * std::min(elapsed_s / response_s, 1.0);
    const double frame_bits = rate_mbps_ * 1e6 / kFramesPerSecond;
    const double packets = std::ceil(frame_bits / (kMaxPacketBytes * 8));
    rate_mbps_ += std::max(1000.0 * elapsed_s, alpha * frame_bits / packets) * 1e-6;
  } else {
    rate_mbps_ *= std::pow(kGrowthPerSecond, elapsed_s);
  }
  rate_mbps_ = std::min(rate_mbps_, std::max(kMaxOverIncoming * conditions.incoming_mbps, kMinRateMbps));
}

// Section 5.5: R_hat within three standard deviations of its mean at decreases; above them it is forgotten.
bool DelayBasedRate::is_near_convergence(double incoming_mbps) {
  if (mean_at_decrease_mbps_ <= 0) return false;
  const double reach = kDeviations * std::sqrt(variance_at_decrease_);
  if (incoming_mbps > mean_at_decrease_mbps_ + reach) mean_at_decrease_mbps_ = 0;
  return mean_at_decrease_mbps_ > 0 && incoming_mbps > mean_at_decrease_mbps_ - reach;
}

void DelayBasedRate::decrease(double incoming_mbps) {
  rate_mbps_ = std::max(kMinRateMbps, std::min(rate_mbps_, kBeta * incoming_mbps));
  if (mean_at_decrease_mbps_ <= 0) {
    mean_at_decrease_mbps_ = incoming_mbps;
    variance_at_decrease_ = 0.01 * incoming_mbps * incoming_mbps;
    return;
  }
  const double error = incoming_mbps - mean_at_decrease_mbps_;
  mean_at_decrease_mbps_ += (1 - kDecreaseSmoothing) * error;
  variance_at_decrease_ =
      kDecreaseSmoothing * variance_at_decrease_ + (1 - kDecreaseSmoothing) * error * error;
}

// Section 6: above 10 % A_s (1 - p/2), below 2 % 1.05 A_s, else as it is.
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
