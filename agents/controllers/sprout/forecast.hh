// Sprout's cautious forecast (NSDI 2013, section 3.3): the number of packets that the link delivers within
// the next ticks with a probability of at least 95 %.
#pragma once

#include <array>

#include "agents/controllers/sprout/rate_belief.hh"

namespace ccgym {

inline constexpr std::size_t kForecastTicks = 8;     // section 3.3: 160 ms
inline constexpr double kForecastConfidence = 0.95;  // section 3.3

// Cumulative packets after 1, 2, ... ticks.
using Forecast = std::array<int, kForecastTicks>;

Forecast cautious_forecast(const RateBelief::Distribution& belief);

}  // namespace ccgym
