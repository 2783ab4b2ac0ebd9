#include "agents/controllers/sprout/forecast.hh"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace ccgym {

namespace {

// The largest means are 20 packets per tick and 160 in all 8 ticks; six standard deviations above fit in.
constexpr std::size_t kMaxPerTick = 48;
constexpr std::size_t kMaxTotal = 240;

using TickCounts = std::array<double, kMaxPerTick>;
using TotalCounts = std::array<double, kMaxTotal>;

TickCounts poisson(double mean) {
  TickCounts counts{};
  double term = std::exp(-mean);
  for (std::size_t n = 0; n < counts.size(); term *= mean / static_cast<double>(++n)) counts[n] = term;
  return counts;
}

TotalCounts convolve(const TotalCounts& total, const TickCounts& tick) {
  TotalCounts sum{};
  for (std::size_t n = 0; n < kMaxTotal; ++n) {
    if (total[n] == 0) continue;
    const std::size_t reach = std::min(kMaxPerTick, kMaxTotal - n);
    for (std::size_t k = 0; k < reach; ++k) sum[n + k] += total[n] * tick[k];
  }
  return sum;
}

// A table, for each present rate and each number of ticks ahead, of the probability of at most n packets
// until then. The rate evolves from tick to tick; given the rate, the counts of the ticks are taken as
// independent.
class CumulativeCounts {
 public:
  CumulativeCounts() : cdf_(kForecastTicks * kMaxTotal * kSproutRates) {
    std::array<TickCounts, kSproutRates> counts{};
    for (std::size_t rate = 0; rate < kSproutRates; ++rate)
      counts[rate] = poisson(RateBelief::packets_per_tick(rate));
    for (std::size_t rate = 0; rate < kSproutRates; ++rate) tabulate(rate, counts);
  }

  // The probability, by `belief`, of at most `packets` packets within the next `tick` + 1 ticks.
  [[nodiscard]] double probability(const RateBelief::Distribution& belief, std::size_t tick,
                                   std::size_t packets) const {
    const float* row = &cdf_[(tick * kMaxTotal + packets) * kSproutRates];
    double sum = 0;
    for (std::size_t rate = 0; rate < kSproutRates; ++rate)
      sum += belief[rate] * static_cast<double>(row[rate]);
    return sum;
  }

 private:
  void tabulate(std::size_t rate, const std::array<TickCounts, kSproutRates>& counts) {
    RateBelief::Distribution rates{};
    rates[rate] = 1;
    TotalCounts total{1.0};
    for (std::size_t tick = 0; tick < kForecastTicks; ++tick) {
      RateBelief::evolve(rates);
      total = convolve(total, mixture(rates, counts));
      double below = 0;
      for (std::size_t n = 0; n < kMaxTotal; ++n)
        cdf_[(tick * kMaxTotal + n) * kSproutRates + rate] = static_cast<float>(below += total[n]);
    }
  }

  static TickCounts mixture(const RateBelief::Distribution& rates,
                            const std::array<TickCounts, kSproutRates>& counts) {
    TickCounts mixed{};
    for (std::size_t rate = 0; rate < kSproutRates; ++rate) {
      if (rates[rate] < 1e-9) continue;
      for (std::size_t n = 0; n < kMaxPerTick; ++n) mixed[n] += rates[rate] * counts[rate][n];
    }
    return mixed;
  }

  std::vector<float> cdf_;
};

const CumulativeCounts& cumulative_counts() {
  static const auto counts = std::make_unique<CumulativeCounts>();
  return *counts;
}

}  // namespace

Forecast cautious_forecast(const RateBelief::Distribution& belief) {
  const CumulativeCounts& counts = cumulative_counts();
  Forecast forecast{};
  std::size_t packets = 0;
  for (std::size_t tick = 0; tick < kForecastTicks; ++tick) {
    while (packets < kMaxTotal && counts.probability(belief, tick, packets) <= 1 - kForecastConfidence)
      ++packets;
    forecast[tick] = static_cast<int>(packets);
  }
  return forecast;
}

}  // namespace ccgym
