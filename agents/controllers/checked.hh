// How a scheme checks the numbers that it is given, whether they came as text or in its Config.
#pragma once

#include <string_view>

namespace ccgym {

// The value, if it is within `least` and `most`, which NaN is not. Otherwise throws std::invalid_argument,
// one line; `what` says whose number it is, and its unit, as "fixed: cwnd_packets".
double checked(std::string_view what, double value, double least, double most);

}  // namespace ccgym
