// The exported network: one LSTM layer and a linear head, evaluated one decision at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ccgym {

// Weights in PyTorch's layout (torch.nn.LSTM: gate order i, f, g, o; row-major).
struct LstmWeights {
  std::size_t inputs{};
  std::size_t hidden{};
  std::size_t outputs{};
  std::vector<float> weight_ih{};  // [4*hidden, inputs]
  std::vector<float> weight_hh{};  // [4*hidden, hidden]
  std::vector<float> bias_ih{};    // [4*hidden]
  std::vector<float> bias_hh{};    // [4*hidden]
  std::vector<float> head_weight{};  // [outputs, hidden]
  std::vector<float> head_bias{};    // [outputs]
};

class PolicyNetwork {
 public:
  explicit PolicyNetwork(LstmWeights weights);  // throws std::invalid_argument when shapes disagree

  [[nodiscard]] std::size_t inputs() const { return weights_.inputs; }
  [[nodiscard]] std::size_t outputs() const { return weights_.outputs; }

  void reset();                                                     // zero state, as at the start of a flow
  std::span<const float> step(std::span<const float> observation);  // outputs of this decision

 private:
  LstmWeights weights_;
  std::vector<float> hidden_{};
  std::vector<float> cell_{};
  std::vector<float> gates_{};
  std::vector<float> outputs_{};
};

}  // namespace ccgym
