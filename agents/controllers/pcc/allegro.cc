#include "agents/controllers/pcc/allegro.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kEpsilonMin = 0.01;  // section 3.2
constexpr double kEpsilonMax = 0.05;  // section 3.2
constexpr double kAlpha = 100;        // section 2.2: alpha >= max(2.2 (n - 1), 100)
constexpr double kRttAlpha = 10;      // the released sender's
constexpr double kLossCap = 0.05;     // section 2.2

double sigmoid(double y) { return 1 / (1 + std::exp(y)); }

// T Sigmoid(L - 0.05) of section 2.2: the goodput, which counts for next to nothing at a loss rate above the
// cap.
double capped_goodput(double rate_mbps, double loss_rate) {
  return rate_mbps * (1 - loss_rate) * sigmoid(kAlpha * (loss_rate - kLossCap));
}

}  // namespace

double Allegro::loss_utility(double rate_mbps, double loss_rate) {
  return capped_goodput(rate_mbps, loss_rate) - rate_mbps * loss_rate;
}

double Allegro::latency_utility(double rate_mbps, double loss_rate, double rtt_s, double rtt_before_s) {
  const double rtt_factor = sigmoid(kRttAlpha * (1 - rtt_before_s / rtt_s));
  return (capped_goodput(rate_mbps, loss_rate) * rtt_factor - rate_mbps * loss_rate) / rtt_s;
}

RateLearner::Trial Allegro::next() {
  if (phase_ == Phase::starting) return starting_.next();
  if (phase_ == Phase::adjusting) return {next_id_, rate_mbps_};
  if (next_trial_ == kTrials) return {kNoTrial, rate_mbps_};
  const double offset = directions_[static_cast<std::size_t>(next_trial_++)] * epsilon_;
  return {next_id_++, rate_mbps_ * (1 + offset)};
}

bool Allegro::learn(const MonitorInterval& result) {
  const double utility = utility_of(result);
  switch (phase_) {
    case Phase::starting:
      return learn_start(result, utility);
    case Phase::deciding:
      return learn_decision(result, utility);
    default:
      return learn_adjustment(result, utility);
  }
}

double Allegro::utility_of(const MonitorInterval& result) {
  if (utility_ == Utility::loss) return loss_utility(result.rate_mbps, result.loss_rate());
  const double rtt_s = result.last_rtt_s;
  if (rtt_s <= 0) return -result.rate_mbps;  // every packet was lost
  const double before_s = rtt_before_s_ > 0 ? rtt_before_s_ : rtt_s;
  rtt_before_s_ = rtt_s;
  return latency_utility(result.rate_mbps, result.loss_rate(), rtt_s, before_s);
}

bool Allegro::learn_start(const MonitorInterval& result, double utility) {
  const std::optional<double> fallback = starting_.learn(result, utility);
  if (!fallback) return false;
  rate_mbps_ = *fallback;
  epsilon_ = kEpsilonMin;
  begin_trials();
  return true;
}

// Section 3.2, decision making: randomised controlled trials around r.
void Allegro::begin_trials() {
  phase_ = Phase::deciding;
  next_trial_ = known_trials_ = 0;
  first_id_ = ++next_id_;
  for (std::size_t pair = 0; pair < kTrials; pair += 2) {
    directions_[pair] = random_.bits() % 2 == 0 ? 1 : -1;
    directions_[pair + 1] = -directions_[pair];
  }
}

bool Allegro::learn_decision(const MonitorInterval& result, double utility) {
  const int index = result.trial - first_id_;
  if (result.trial == kNoTrial || index < 0 || index >= kTrials) return false;
  utilities_[static_cast<std::size_t>(index)] = utility;
  return ++known_trials_ == kTrials && decide();
}

// If both pairs prefer the same direction, the rate moves in it; otherwise the trials are repeated with a
// larger epsilon.
bool Allegro::decide() {
  double vote = 0;
  for (std::size_t pair = 0; pair < kTrials; pair += 2) {
    vote += utilities_[pair] > utilities_[pair + 1] ? directions_[pair] : directions_[pair + 1];
  }
  if (vote == 0) {
    epsilon_ = std::min(epsilon_ + kEpsilonMin, kEpsilonMax);
    begin_trials();
    return true;
  }
  const auto mean_of = [this](double direction) {
    double sum = 0;
    for (std::size_t i = 0; i < kTrials; ++i) sum += directions_[i] == direction ? utilities_[i] : 0;
    return sum / (kTrials / 2.0);
  };
  direction_ = vote > 0 ? 1 : -1;
  rate_mbps_ = in_bounds(rate_mbps_ * (1 + direction_ * epsilon_));
  utility_before_ = mean_of(direction_);
  phase_ = Phase::adjusting;
  steps_ = 0;
  step();
  return true;
}

// Section 3.2, rate adjusting: r_n = r_(n-1) (1 + n epsilon_min dir).
void Allegro::step() {
  ++steps_;
  ++next_id_;
  rate_before_mbps_ = rate_mbps_;
  rate_mbps_ = in_bounds(rate_mbps_ * (1 + steps_ * kEpsilonMin * direction_));
}

bool Allegro::learn_adjustment(const MonitorInterval& result, double utility) {
  if (result.trial != next_id_) return false;
  if (utility > utility_before_) {
    utility_before_ = utility;
    step();
    return true;
  }
  rate_mbps_ = rate_before_mbps_;
  epsilon_ = kEpsilonMin;
  begin_trials();
  return true;
}

}  // namespace ccgym
