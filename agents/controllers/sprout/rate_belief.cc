#include "agents/controllers/sprout/rate_belief.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kVolatility = 200;      // sigma, section 3.1: packets per second per sqrt(second)
constexpr double kOutageEscapeRate = 1;  // lambda_z, section 3.1: per second
constexpr double kTickSeconds = std::chrono::duration<double>{kSproutTick}.count();
constexpr double kStep = kSproutMaxPacketsPerSecond / (kSproutRates - 1);
constexpr std::ptrdiff_t kReach =
    36;                           // how far, in steps of kStep, the rate may move in a tick: 5 deviations
constexpr double kFloor = 1e-12;  // added to each probability, so that no rate is ever ruled out
// Larger counts are cut to this, twice the mean at the highest rate: their likelihood would be below the
// floor at every rate, and so would not distinguish the rates.
constexpr double kMaxPackets = 40;

using Kernel = std::array<double, 2 * kReach + 1>;

// The probabilities of a move by -kReach to kReach steps within a tick: a normal distribution with the
// standard deviation sigma sqrt(tick).
Kernel brownian_kernel() {
  const double deviation = kVolatility * std::sqrt(kTickSeconds) / kStep;
  const auto below = [deviation](double x) { return 0.5 * std::erfc(-x / deviation / std::sqrt(2.0)); };
  Kernel kernel{};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const double move = static_cast<double>(i) - static_cast<double>(kReach);
    kernel.at(i) = below(move + 0.5) - below(move - 0.5);
  }
  return kernel;
}

std::array<double, kSproutRates> log_means() {
  std::array<double, kSproutRates> logs{};
  for (std::size_t rate = 0; rate < kSproutRates; ++rate)
    logs.at(rate) = std::log(std::max(RateBelief::packets_per_tick(rate), 1e-9));
  return logs;
}

}  // namespace

RateBelief::RateBelief() { probabilities_.fill(1.0 / kSproutRates); }

double RateBelief::packets_per_tick(std::size_t rate) {
  return static_cast<double>(rate) * kStep * kTickSeconds;
}

// Probability that would leave the range of rates stays at its ends. An outage, rate 0, lasts for another
// tick with the probability e^(-lambda_z tick).
void RateBelief::evolve(Distribution& probabilities) {
  static const Kernel kernel = brownian_kernel();
  static const double outage_lasts = std::exp(-kOutageEscapeRate * kTickSeconds);
  constexpr std::ptrdiff_t kLast = kSproutRates - 1;
  std::array<double, kSproutRates + 2 * kReach> spread{};
  const double outage = probabilities[0];
  probabilities[0] *= 1 - outage_lasts;
  for (std::size_t rate = 0; rate < kSproutRates; ++rate) {
    const double probability = probabilities[rate];
    for (std::size_t i = 0; i < kernel.size(); ++i) spread[rate + i] += probability * kernel[i];
  }
  probabilities.fill(0);
  for (std::size_t i = 0; i < spread.size(); ++i) {
    const std::ptrdiff_t rate = std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(i) - kReach, 0, kLast);
    probabilities[static_cast<std::size_t>(rate)] += spread[i];
  }
  probabilities[0] += outage * outage_lasts;
}

// Section 3.2, step 2: multiplies each probability by the Poisson likelihood of the count.
void RateBelief::observe(double packets) {
  packets = std::min(packets, kMaxPackets);
  static const std::array<double, kSproutRates> logs = log_means();
  const double log_factorial = std::lgamma(packets + 1);
  for (std::size_t rate = 0; rate < kSproutRates; ++rate)
    probabilities_[rate] *= std::exp(packets * logs[rate] - packets_per_tick(rate) - log_factorial);
  normalise();
}

// Multiplies each probability by the likelihood of that count or a larger one.
void RateBelief::observe_at_least(double packets) {
  packets = std::min(packets, kMaxPackets);
  for (std::size_t rate = 0; rate < kSproutRates; ++rate) {
    const double mean = packets_per_tick(rate);
    double term = std::exp(-mean);
    double fewer = 0;
    for (int count = 0; count < packets; ++count, term *= mean / count) fewer += term;
    probabilities_[rate] *= std::max(1 - fewer, 0.0);
  }
  normalise();
}

// Section 3.2, step 3: scales the probabilities to a sum of 1.
void RateBelief::normalise() {
  double sum = 0;
  for (double& probability : probabilities_) sum += probability += kFloor;
  for (double& probability : probabilities_) probability /= sum;
}

double RateBelief::mean_packets_per_second() const {
  double mean = 0;
  for (std::size_t rate = 0; rate < kSproutRates; ++rate)
    mean += probabilities_[rate] * packets_per_tick(rate) / kTickSeconds;
  return mean;
}

}  // namespace ccgym
