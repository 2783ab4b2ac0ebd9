// Checks of the numbers that a scheme is given, as text or in its Config.
#pragma once

#include <string_view>

namespace ccgym {

// Returns the value if it is within `least` and `most`; NaN is not. Otherwise throws std::invalid_argument,
// one line in which `what` names the number and its unit, such as "fixed: cwnd_packets".
double checked(std::string_view what, double value, double least, double most);

}  // namespace ccgym
