// A value that changes in steps: a rate or a delay that holds until the next step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ccgym {

// Repeats after its period. The first step starts at 0.
struct StepFunction {
  std::vector<double> starts_ms;
  std::vector<double> values;
  double period_ms;
};

// All of these throw std::invalid_argument that says what is wrong and what would be right.

// Returns `function` if it is valid: as many values as starts, starts that increase from 0 to below the
// period, values that are finite and at least 0.
StepFunction checked(StepFunction function);

// A geometric random walk from `first`: every `every_ms` times e^(spread * standard normal), reflected at
// `low` and `high`.
StepFunction random_walk(double first, double every_ms, double spread, double low, double high, uint64_t seed,
                         double period_ms);

// A Markov chain in continuous time: one of `values` for an exponential stay of mean `mean_stay_ms`, then any
// other with equal probability.
StepFunction markov_chain(std::span<const double> values, double mean_stay_ms, uint64_t seed,
                          double period_ms);

// The rate of a cellular link after Winstein et al., Sprout, NSDI 2013, section 3.1: Brownian motion in ticks
// of 20 ms, and outages that end at random; scaled so that its mean is `mean`.
StepFunction cellular_rate(double mean, uint64_t seed, double period_ms);

// Reads a step function at times that do not decrease; an earlier time is taken for the last one.
class StepCursor {
 public:
  explicit StepCursor(const StepFunction& function) : function_(&function) {}

  double value_at(double ms);

 private:
  const StepFunction* function_;
  std::size_t index_{0};
  double period_begin_ms_{0};
};

}  // namespace ccgym
