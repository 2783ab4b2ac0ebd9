// tanh with the same bits on every machine.
#pragma once

#include <span>

namespace ccgym {

void apply_tanh(std::span<const float> values, std::span<float> results);  // as many

}  // namespace ccgym
