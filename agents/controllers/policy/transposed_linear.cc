#include "agents/controllers/policy/transposed_linear.hh"

#include <algorithm>

#include "agents/controllers/policy/vectorised.hh"

namespace ccgym {

TransposedLinear::TransposedLinear(std::span<const float> weights, std::span<const float> bias)
    : bias_(bias.begin(), bias.end()), columns_(weights.size()) {
  const std::size_t inputs = weights.size() / bias.size();
  for (std::size_t i = 0; i < weights.size(); ++i)
    columns_[i % inputs * bias.size() + i / inputs] = weights[i];
}

namespace {

CCGYM_VECTORISED void add_column(const float* column, double input, double* sums, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<double>(column[i]) * input;
}

}  // namespace

void TransposedLinear::apply(std::span<const double> inputs, std::span<double> outputs) const {
  std::ranges::copy(bias_, outputs.begin());
  const std::size_t count = bias_.size();
  const float* column = columns_.data();
  double* const sums = outputs.data();
  for (const double input : inputs) {
    add_column(column, input, sums, count);
    column += count;
  }
}

}  // namespace ccgym
