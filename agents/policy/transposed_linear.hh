// y = W x + b for small matrices, transposed so that the compiler's vectors run over the outputs: every
// output is one sum in the order of the inputs, so the bits do not depend on the width of the vectors.
#pragma once

#include <span>
#include <vector>

namespace ccgym {

class TransposedLinear {
 public:
  // `weights` row-major [outputs, inputs], `bias` [outputs]; the caller has checked the sizes.
  TransposedLinear(std::span<const float> weights, std::span<const float> bias);

  void apply(std::span<const double> inputs, std::span<double> outputs) const;

 private:
  std::vector<double> bias_;
  // [blocks of outputs, inputs, outputs of a block], in the order of use: between two decisions the packets
  // of a fast flow evict the weights from the caches, and memory is read fastest in order.
  std::vector<float> weights_{};
};

}  // namespace ccgym
