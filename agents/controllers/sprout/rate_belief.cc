#include "agents/controllers/sprout/rate_belief.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kVolatility = 200;      // sigma, section 3.1: packets per second per sqrt(second)
constexpr double kOutageEscapeRate = 1;  // lambda_z, section 3.1: per second
constexpr double kTickSeconds = std::chrono::duration<double>{kSproutTick}.count();
constexpr double kStep = kSproutMaxPacketsPerSecond / (kSproutRates - 1);
constexpr std::ptrdiff_t kReach = 36;  // rates that a tick may move by: five standard deviations
constexpr double kFloor = 1e-12;       // no rate is ever ruled out
// Twice what the highest rate brings in a tick. More says nothing else, and would be less likely by every
// rate than the floor.
constexpr double kMostPackets = 40;

using Kernel = std::array<double, 2 * kReach + 1>;

// Probability of a move by each number of rates within a tick: a normal distribution of deviation
// sigma sqrt(tick).
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

// What would leave the range stays at its end; an outage lasts with probability e^(-lambda_z tick).
void RateBelief::evolve(Distribution& probabilities) {
  static const Kernel kernel = brownian_kernel();
  static const double sticks = std::exp(-kOutageEscapeRate * kTickSeconds);
  constexpr std::ptrdiff_t kLast = kSproutRates - 1;
  std::array<double, kSproutRates + 2 * kReach> spread{};
  const double outage = probabilities[0];
  probabilities[0] *= 1 - sticks;
  for (std::size_t rate = 0; rate < kSproutRates; ++rate) {
    const double probability = probabilities[rate];
    for (std::size_t i = 0; i < kernel.size(); ++i) spread[rate + i] += probability * kernel[i];
  }
  probabilities.fill(0);
  for (std::size_t i = 0; i < spread.size(); ++i) {
    const std::ptrdiff_t rate = std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(i) - kReach, 0, kLast);
    probabilities[static_cast<std::size_t>(rate)] += spread[i];
  }
  probabilities[0] += outage * sticks;
}

// Section 3.2, step 2: times the Poisson likelihood of the count.
void RateBelief::observe(double packets) {
  packets = std::min(packets, kMostPackets);
  static const std::array<double, kSproutRates> logs = log_means();
  const double log_factorial = std::lgamma(packets + 1);
  for (std::size_t rate = 0; rate < kSproutRates; ++rate)
    probabilities_[rate] *= std::exp(packets * logs[rate] - packets_per_tick(rate) - log_factorial);
  normalise();
}

// Times the likelihood of that count or a larger one.
void RateBelief::observe_at_least(double packets) {
  packets = std::min(packets, kMostPackets);
  for (std::size_t rate = 0; rate < kSproutRates; ++rate) {
    const double mean = packets_per_tick(rate);
    double term = std::exp(-mean);
    double fewer = 0;
    for (int count = 0; count < packets; ++count, term *= mean / count) fewer += term;
    probabilities_[rate] *= std::max(1 - fewer, 0.0);
  }
  normalise();
}

// Section 3.2, step 3.
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
