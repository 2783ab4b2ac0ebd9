// Indigo's network: one LSTM layer and a linear head.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "agents/policy/policy_network.hh"
#include "agents/policy/transposed_linear.hh"

namespace ccgym {

// Weights in PyTorch's layout (torch.nn.LSTM: gate order i, f, g, o; row-major).
struct LstmWeights {
  std::size_t inputs{};
  std::size_t hidden{};
  std::size_t outputs{};
  std::vector<float> weight_ih{};    // [4*hidden, inputs]
  std::vector<float> weight_hh{};    // [4*hidden, hidden]
  std::vector<float> bias_ih{};      // [4*hidden]
  std::vector<float> bias_hh{};      // [4*hidden]
  std::vector<float> head_weight{};  // [outputs, hidden]
  std::vector<float> head_bias{};    // [outputs]
};

class LstmNetwork final : public PolicyNetwork {
 public:
  explicit LstmNetwork(const LstmWeights& weights);  // throws std::invalid_argument when shapes disagree

  [[nodiscard]] std::size_t inputs() const override { return inputs_; }
  [[nodiscard]] std::size_t outputs() const override { return outputs_.size(); }
  [[nodiscard]] std::unique_ptr<PolicyNetwork> clone() const override;
  [[nodiscard]] std::vector<double> state() const override;  // hidden, then cell
  void reset() override;
  std::span<const float> step(std::span<const float> observation) override;

 private:
  std::size_t inputs_;
  std::size_t hidden_;
  TransposedLinear gate_layer_;      // [observation, hidden state] -> gates i, f, g, o
  TransposedLinear head_;            // hidden state -> outputs
  std::vector<double> gate_inputs_;  // observation, then hidden state
  std::vector<double> gates_;
  std::vector<double> cell_;
  std::vector<double> head_outputs_;
  std::vector<float> outputs_;
};

}  // namespace ccgym
