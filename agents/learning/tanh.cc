#include "agents/learning/tanh.hh"

#include <cstddef>

#include "agents/policy/activations.hh"
#include "agents/policy/vectorised.hh"

namespace ccgym {

namespace {

CCGYM_VECTORISED void apply(const float* values, float* results, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    results[i] = static_cast<float>(hyperbolic_tangent(static_cast<double>(values[i])));
}

}  // namespace

void apply_tanh(std::span<const float> values, std::span<float> results) {
  apply(values.data(), results.data(), values.size());
}

}  // namespace ccgym
