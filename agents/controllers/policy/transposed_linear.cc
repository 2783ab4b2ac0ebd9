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

// So many sums at a time, which the compiler keeps in registers while the inputs pass by.
constexpr std::size_t kBlock = 32;

CCGYM_VECTORISED void add_columns(const float* columns, const double* inputs, std::size_t input_count,
                                  double* sums, std::size_t sum_count) {
  std::size_t first = 0;
  for (; first + kBlock <= sum_count; first += kBlock) {
    double block[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i) block[i] = sums[first + i];
    const float* column = columns + first;
    for (std::size_t input = 0; input < input_count; ++input, column += sum_count)
      for (std::size_t i = 0; i < kBlock; ++i) block[i] += static_cast<double>(column[i]) * inputs[input];
    for (std::size_t i = 0; i < kBlock; ++i) sums[first + i] = block[i];
  }
  const float* column = columns;
  for (std::size_t input = 0; first < sum_count && input < input_count; ++input, column += sum_count)
    for (std::size_t i = first; i < sum_count; ++i) sums[i] += static_cast<double>(column[i]) * inputs[input];
}

}  // namespace

void TransposedLinear::apply(std::span<const double> inputs, std::span<double> outputs) const {
  std::ranges::copy(bias_, outputs.begin());
  add_columns(columns_.data(), inputs.data(), inputs.size(), outputs.data(), bias_.size());
}

}  // namespace ccgym
