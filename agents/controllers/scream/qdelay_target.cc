#include "agents/controllers/scream/qdelay_target.hh"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ccgym {

namespace {

constexpr double kHighSeconds = 0.4;       // QDELAY_TARGET_HI
constexpr double kLossEventRate = 0.002;   // a higher rate shows competing flows
constexpr double kLossEventWeight = 0.01;  // the authors' implementation, as the RFC gives none
constexpr double kStableVariance = 0.2;    // of qdelay_norm: below it the delay counts as stable

}  // namespace

void QdelayTarget::end_round_trip() {
  loss_event_rate_ += kLossEventWeight * ((lost_in_round_ ? 1 : 0) - loss_event_rate_);
  lost_in_round_ = false;
}

// The RFC's adjust_qdelay_target. With neither losses nor a stable delay the target falls, so that it does
// not stay high for ever: fast while the measured delay is below QDELAY_TARGET_LO, otherwise slowly.
void QdelayTarget::update(double qdelay_s) {
  norms_[samples_++ % kHistory] = qdelay_s / kLowSeconds;
  const double spread = variance();
  const double new_target_s = (recent_average() + std::sqrt(spread)) * kLowSeconds;
  if (loss_event_rate_ > kLossEventRate) {
    seconds_ = 1.5 * new_target_s;
  } else if (spread < kStableVariance) {
    seconds_ = new_target_s;
  } else if (new_target_s < kLowSeconds) {
    seconds_ = std::max(0.5 * seconds_, new_target_s);
  } else {
    seconds_ *= 0.9;
  }
  seconds_ = std::clamp(seconds_, kLowSeconds, kHighSeconds);
}

double QdelayTarget::recent_average() const {
  double sum = 0;
  for (std::size_t i = 1; i <= kRecent; ++i) sum += norms_[(samples_ + kHistory - i) % kHistory];
  return sum / kRecent;
}

double QdelayTarget::variance() const {
  const double mean = std::accumulate(norms_.begin(), norms_.end(), 0.0) / kHistory;
  double squares = 0;
  for (const double norm : norms_) squares += (norm - mean) * (norm - mean);
  return squares / kHistory;
}

}  // namespace ccgym
