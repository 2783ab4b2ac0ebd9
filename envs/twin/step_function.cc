#include "envs/twin/step_function.hh"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "transport/random.hh"

namespace ccgym {

namespace {

// Sprout: 200 packets/s per sqrt(s) on links of up to 1000 packets/s, outages that end at 1 per second.
constexpr double kTickMs = 20;
constexpr double kCellularNoise = 0.4;  // of the mean rate, per sqrt(s)
constexpr double kMaxRate = 2;          // of the mean rate
constexpr double kOutageEndsPerMs = 1e-3;

constexpr double kMaxSteps = 1e7;

void require(bool holds, const char* what, double value, const char* wanted) {
  if (!holds)
    throw std::invalid_argument((std::ostringstream{} << what << " " << value << " is not " << wanted).str());
}

void require_period(double period_ms, double step_ms) {
  require(period_ms > 0 && std::isfinite(period_ms), "period_ms", period_ms, "positive and finite");
  require(step_ms > 0 && std::isfinite(step_ms), "the length of a step in ms", step_ms,
          "positive and finite");
  require(period_ms / step_ms <= kMaxSteps, "the number of steps", period_ms / step_ms, "at most 10 million");
}

// Box and Muller, 1958.
double normal(Random& random) {
  const double radius = std::sqrt(random.exponential(2));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

double reflected(double value, double low, double high) {
  if (value > high) value = 2 * high - value;
  if (value < low) value = 2 * low - value;
  return std::clamp(value, low, high);
}

}  // namespace

StepFunction checked(StepFunction function) {
  const auto& [starts_ms, values, period_ms] = function;
  if (starts_ms.empty() || starts_ms.size() != values.size())
    throw std::invalid_argument("steps need one value for each start, and at least one");
  require(starts_ms.front() == 0, "the first start in ms", starts_ms.front(), "0");
  if (std::ranges::adjacent_find(starts_ms, std::greater_equal<>{}) != starts_ms.end())
    throw std::invalid_argument("the starts of steps must increase");
  require(period_ms > starts_ms.back() && std::isfinite(period_ms), "period_ms", period_ms,
          "after the last start, and finite");
  for (const double value : values)
    require(value >= 0 && std::isfinite(value), "value", value, "finite and at least 0");
  return function;
}

StepFunction random_walk(double first, double every_ms, double spread, double low, double high, uint64_t seed,
                         double period_ms) {
  require_period(period_ms, every_ms);
  require(spread >= 0 && spread <= 10, "spread", spread, "within [0, 10]");
  require(low > 0 && std::isfinite(low), "low", low, "positive and finite");
  require(high >= low && std::isfinite(high), "high", high, "at least low, and finite");
  require(first >= low && first <= high, "the first value", first, "within low and high");
  Random random{seed};
  StepFunction walk{{}, {}, period_ms};
  double logarithm = std::log(first);
  for (double at_ms = 0; at_ms < period_ms; at_ms += every_ms) {
    walk.starts_ms.push_back(at_ms);
    walk.values.push_back(std::clamp(std::exp(logarithm), low, high));
    logarithm = reflected(logarithm + spread * normal(random), std::log(low), std::log(high));
  }
  return walk;
}

StepFunction markov_chain(std::span<const double> values, double mean_stay_ms, uint64_t seed,
                          double period_ms) {
  require_period(period_ms, mean_stay_ms);
  if (values.size() < 2) throw std::invalid_argument("a Markov chain needs at least two values");
  Random random{seed};
  const auto below = [&](std::size_t count) {
    return static_cast<std::size_t>(random.uniform() * static_cast<double>(count));
  };
  StepFunction chain{{}, {}, period_ms};
  std::size_t state = below(values.size());
  for (double at_ms = 0; at_ms < period_ms; at_ms += random.exponential(mean_stay_ms)) {
    if (!chain.starts_ms.empty() && at_ms <= chain.starts_ms.back()) continue;  // a stay of no time
    chain.starts_ms.push_back(at_ms);
    chain.values.push_back(values[state]);
    state = (state + 1 + below(values.size() - 1)) % values.size();
  }
  return checked(std::move(chain));
}

StepFunction cellular_rate(double mean, uint64_t seed, double period_ms) {
  require_period(period_ms, kTickMs);
  require(mean > 0 && std::isfinite(mean), "the mean rate", mean, "positive and finite");
  Random random{seed};
  StepFunction rate{{}, {}, period_ms};
  double level = 1;  // of the mean
  for (double at_ms = 0; at_ms < period_ms; at_ms += kTickMs) {
    rate.starts_ms.push_back(at_ms);
    rate.values.push_back(level);
    if (level == 0 && !random.chance(-std::expm1(-kOutageEndsPerMs * kTickMs))) continue;
    const double moved = level + kCellularNoise * std::sqrt(kTickMs / 1000) * normal(random);
    level = moved > 0 ? reflected(moved, 0, kMaxRate) : 0;
  }
  const double sum = std::accumulate(rate.values.begin(), rate.values.end(), 0.0);
  const double scale = mean * static_cast<double>(rate.values.size()) / sum;
  for (double& value : rate.values) value *= scale;
  return rate;
}

double StepCursor::value_at(double ms) {
  while (ms >= period_begin_ms_ + function_->period_ms) {
    period_begin_ms_ += function_->period_ms;
    index_ = 0;
  }
  const auto& starts_ms = function_->starts_ms;
  while (index_ + 1 < starts_ms.size() && ms >= period_begin_ms_ + starts_ms[index_ + 1]) ++index_;
  return function_->values[index_];
}

}  // namespace ccgym
