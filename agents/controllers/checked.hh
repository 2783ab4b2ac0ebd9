// Range check of the numbers that configure a scheme.
#pragma once

#include <string_view>

namespace ccgym {

// Returns `value` if least <= value <= most. Otherwise, and for NaN, throws std::invalid_argument with one
// line that begins with `what`: the scheme and the number, such as "fixed: cwnd_packets".
double checked(std::string_view what, double value, double least, double most);

}  // namespace ccgym
