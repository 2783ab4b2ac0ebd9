// Sprout's belief about the rate of a link: a probability for each of 256 rates, updated in ticks of 20 ms.
//
// Winstein, Sivaraman and Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low Delay over
// Cellular Networks", NSDI 2013, section 3: packet deliveries are a Poisson process, whose rate follows a
// Brownian motion and stays at zero during outages.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace ccgym {

inline constexpr std::size_t kSproutRates = 256;             // section 3.1
inline constexpr double kSproutMaxPacketsPerSecond = 1000;   // section 3.1
inline constexpr std::chrono::milliseconds kSproutTick{20};  // section 3.1

class RateBelief {
 public:
  using Distribution = std::array<double, kSproutRates>;

  RateBelief();  // a uniform distribution

  void evolve() { evolve(probabilities_); }  // section 3.2, step 1: one tick passes
  void observe(double packets);              // step 2: the link delivered exactly so many packets in the tick
  void observe_at_least(double packets);     // the same, but it had no more packets to deliver

  static void evolve(Distribution& probabilities);
  static double packets_per_tick(std::size_t rate);  // the mean of the Poisson count

  [[nodiscard]] const Distribution& probabilities() const { return probabilities_; }
  [[nodiscard]] double mean_packets_per_second() const;

 private:
  void normalise();

  Distribution probabilities_{};
};

}  // namespace ccgym
