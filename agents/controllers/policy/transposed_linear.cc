#include "agents/controllers/policy/transposed_linear.hh"

#include <algorithm>

namespace ccgym {

TransposedLinear::TransposedLinear(std::span<const float> weights, std::span<const float> bias)
    : bias_(bias.begin(), bias.end()), columns_(weights.size()) {
  const std::size_t inputs = weights.size() / bias.size();
  for (std::size_t i = 0; i < weights.size(); ++i)
    columns_[i % inputs * bias.size() + i / inputs] = weights[i];
}

void TransposedLinear::apply(std::span<const double> inputs, std::span<double> outputs) const {
  std::ranges::copy(bias_, outputs.begin());
  const std::size_t count = bias_.size();
  const double* column = columns_.data();
  double* const sums = outputs.data();
  for (const double input : inputs) {
    for (std::size_t i = 0; i < count; ++i) sums[i] += column[i] * input;
    column += count;
  }
}

}  // namespace ccgym
