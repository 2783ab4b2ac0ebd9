// Aurora's network: linear layers with tanh between them, without memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "agents/policy/policy_network.hh"
#include "agents/policy/transposed_linear.hh"

namespace ccgym {

// Weights in PyTorch's layout (torch.nn.Linear).
struct LinearWeights {
  std::size_t inputs{};
  std::size_t outputs{};
  std::vector<float> weight{};  // [outputs, inputs], row-major
  std::vector<float> bias{};    // [outputs]
};

class MlpNetwork final : public PolicyNetwork {
 public:
  // From the observation to the outputs; throws std::invalid_argument when shapes disagree.
  explicit MlpNetwork(const std::vector<LinearWeights>& layers);

  [[nodiscard]] std::size_t inputs() const override { return inputs_; }
  [[nodiscard]] std::size_t outputs() const override { return outputs_.size(); }
  [[nodiscard]] std::unique_ptr<PolicyNetwork> clone() const override {
    return std::make_unique<MlpNetwork>(*this);
  }
  std::span<const float> step(std::span<const float> observation) override;

 private:
  std::size_t inputs_;
  std::vector<TransposedLinear> layers_{};
  std::vector<std::vector<double>> activations_{};  // of the observation, then of each layer
  std::vector<float> outputs_;
};

}  // namespace ccgym
