#include "agents/controllers/pcc/vivace.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kThroughputExponent = 0.9;  // t, section 5
constexpr double kLatencyCoefficient = 900;  // b, section 5
constexpr double kLossCoefficient = 11.35;   // c, section 5
constexpr double kSlopeTolerance = 0.01;     // section 5: smaller slopes are noise, and count as zero
constexpr double kStartingTolerance = 0.3;   // the released sender's, so that noise does not end the start
constexpr double kEpsilon = 0.05;            // section 4.1
constexpr double kConversionFactor = 1;      // theta_0, section 4.2
constexpr double kBoundary = 0.05;           // omega_0, section 4.3
constexpr double kBoundaryStep = 0.1;        // delta, section 4.3

double without_noise(double rtt_slope) { return std::abs(rtt_slope) < kSlopeTolerance ? 0 : rtt_slope; }

}  // namespace

double Vivace::utility(Utility kind, double rate_mbps, double rtt_slope, double loss_rate) {
  const double slope = kind == Utility::loss ? 0 : without_noise(rtt_slope);
  return std::pow(rate_mbps, kThroughputExponent) - kLatencyCoefficient * rate_mbps * slope -
         kLossCoefficient * rate_mbps * loss_rate;
}

// Proteus section 5: the slope counts as zero if it changes the RTT, over an interval of one RTT, by less
// than the RMS residual of the regression.
double Vivace::rtt_slope(const RttLine& rtts) {
  const double slope = rtts.slope();
  return std::abs(slope) * rtts.mean_rtt_s() < rtts.error_s() ? 0 : slope;
}

double Vivace::confidence_amplifier(int same_sign) {
  if (same_sign <= 3) return std::max(same_sign, 1);
  return same_sign <= 6 ? 2 * same_sign - 3 : 3 * same_sign - 9;
}

RateLearner::Trial Vivace::next() {
  if (is_starting_) return starting_.next();
  if (next_trial_ == kTrials) return {kNoTrial, rate_mbps_};
  const double offset = directions_[static_cast<std::size_t>(next_trial_++)] * kEpsilon;
  return {next_id_++, rate_mbps_ * (1 + offset)};
}

bool Vivace::learn(const MonitorInterval& result) {
  double slope = rtt_slope(result.rtts);
  if (is_starting_ && std::abs(slope) < kStartingTolerance) slope = 0;
  const double value = utility(utility_, result.rate_mbps, slope, result.loss_rate());
  if (is_starting_) return learn_start(result, value);
  const int index = result.trial - first_id_;
  if (result.trial == kNoTrial || index < 0 || index >= kTrials) return false;
  utilities_[static_cast<std::size_t>(index)] = value;
  rtt_slopes_[static_cast<std::size_t>(index)] = without_noise(slope);
  if (++known_trials_ < kTrials) return false;
  learn_pair();
  begin_trials();
  return true;
}

// A higher rate cannot make the RTT rise more slowly: such a pair is noise, and is tried again before it
// moves the rate. If the second pair is abnormal as well, the mean of both gradients counts. This brings the
// rate back when it exceeds the link's, where the slopes of a pair differ only by noise.
void Vivace::learn_pair() {
  double gradient = directions_[0] * (utilities_[0] - utilities_[1]) / (2 * kEpsilon * rate_mbps_);
  const bool is_abnormal =
      utility_ == Utility::latency && directions_[0] * (rtt_slopes_[0] - rtt_slopes_[1]) < 0;
  if (is_abnormal && !doubted_gradient_) {
    doubted_gradient_ = gradient;
    return;
  }
  if (is_abnormal) gradient = (gradient + *doubted_gradient_) / 2;
  doubted_gradient_ = std::nullopt;
  ascend(gradient);
}

bool Vivace::learn_start(const MonitorInterval& result, double value) {
  const std::optional<double> fallback = starting_.learn(result, value);
  if (!fallback) return false;
  rate_mbps_ = *fallback;
  is_starting_ = false;
  begin_trials();
  return true;
}

void Vivace::begin_trials() {
  next_trial_ = known_trials_ = 0;
  first_id_ = ++next_id_;
  directions_[0] = random_.bits() % 2 == 0 ? 1 : -1;
  directions_[1] = -directions_[0];
}

void Vivace::ascend(double gradient) {
  const double sign = gradient < 0 ? -1 : 1;
  if (sign == last_sign_) {
    ++same_sign_;
  } else {
    same_sign_ = boundary_level_ = 0;
  }
  last_sign_ = sign;
  const double change_mbps = confidence_amplifier(same_sign_) * kConversionFactor * gradient;
  rate_mbps_ = in_bounds(rate_mbps_ + bounded(change_mbps));
}

// Section 4.3: a change is at most omega r, with omega = omega_0 + k delta. k grows by one whenever a change
// exceeds the bound; otherwise it becomes the smallest k whose bound permits the change.
double Vivace::bounded(double change_mbps) {
  const double share = std::abs(change_mbps) / rate_mbps_;
  const double bound = kBoundary + boundary_level_ * kBoundaryStep;
  if (share > bound) {
    ++boundary_level_;
    return std::copysign(bound * rate_mbps_, change_mbps);
  }
  boundary_level_ = share <= kBoundary ? 0 : static_cast<int>(std::ceil((share - kBoundary) / kBoundaryStep));
  return change_mbps;
}

}  // namespace ccgym
