#include "agents/policy/transposed_linear.hh"

#include <algorithm>

#include "agents/policy/vectorised.hh"

namespace ccgym {

namespace {

// Number of sums that are computed at a time: the compiler keeps them in registers during the loop over
// inputs.
constexpr std::size_t kBlock = 32;

CCGYM_VECTORISED void add_products(const float* weights, const double* inputs, std::size_t input_count,
                                   double* sums, std::size_t sum_count) {
  for (; sum_count >= kBlock; sum_count -= kBlock, sums += kBlock) {
    double block[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i) block[i] = sums[i];
    for (std::size_t input = 0; input < input_count; ++input, weights += kBlock)
      for (std::size_t i = 0; i < kBlock; ++i) block[i] += static_cast<double>(weights[i]) * inputs[input];
    for (std::size_t i = 0; i < kBlock; ++i) sums[i] = block[i];
  }
  for (std::size_t input = 0; input < input_count; ++input, weights += sum_count)
    for (std::size_t i = 0; i < sum_count; ++i) sums[i] += static_cast<double>(weights[i]) * inputs[input];
}

}  // namespace

TransposedLinear::TransposedLinear(std::span<const float> weights, std::span<const float> bias)
    : bias_(bias.begin(), bias.end()) {
  const std::size_t inputs = weights.size() / bias.size();
  weights_.reserve(weights.size());
  for (std::size_t first = 0; first < bias.size(); first += kBlock)
    for (std::size_t input = 0; input < inputs; ++input)
      for (std::size_t output = first; output < std::min(first + kBlock, bias.size()); ++output)
        weights_.push_back(weights[output * inputs + input]);
}

void TransposedLinear::apply(std::span<const double> inputs, std::span<double> outputs) const {
  std::ranges::copy(bias_, outputs.begin());
  add_products(weights_.data(), inputs.data(), inputs.size(), outputs.data(), bias_.size());
}

}  // namespace ccgym
