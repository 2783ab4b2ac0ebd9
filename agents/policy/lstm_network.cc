#include "agents/policy/lstm_network.hh"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "agents/policy/activations.hh"
#include "agents/policy/vectorised.hh"

namespace ccgym {

namespace {

void check_size(std::string_view tensor, const std::vector<float>& values, std::size_t expected) {
  if (values.size() == expected) return;
  throw std::invalid_argument("policy network: " + std::string{tensor} + " has " +
                              std::to_string(values.size()) + " entries, should have " +
                              std::to_string(expected));
}

const LstmWeights& checked(const LstmWeights& weights) {
  if (weights.inputs == 0 || weights.hidden == 0 || weights.outputs == 0) {
    throw std::invalid_argument("policy network: inputs, hidden and outputs should be 1 or more");
  }
  const std::size_t gates = 4 * weights.hidden;
  check_size("weight_ih", weights.weight_ih, gates * weights.inputs);
  check_size("weight_hh", weights.weight_hh, gates * weights.hidden);
  check_size("bias_ih", weights.bias_ih, gates);
  check_size("bias_hh", weights.bias_hh, gates);
  check_size("head_weight", weights.head_weight, weights.outputs * weights.hidden);
  check_size("head_bias", weights.head_bias, weights.outputs);
  return weights;
}

// One matrix [4*hidden, inputs + hidden] and one bias for the gates.
TransposedLinear gate_layer(const LstmWeights& weights) {
  std::vector<float> rows;
  std::vector<float> bias;
  for (std::size_t gate = 0; gate < 4 * weights.hidden; ++gate) {
    const float* const from_input = &weights.weight_ih[gate * weights.inputs];
    const float* const from_hidden = &weights.weight_hh[gate * weights.hidden];
    rows.insert(rows.end(), from_input, from_input + weights.inputs);
    rows.insert(rows.end(), from_hidden, from_hidden + weights.hidden);
    bias.push_back(weights.bias_ih[gate] + weights.bias_hh[gate]);
  }
  return {rows, bias};
}

// torch.nn.LSTM: c' = f * c + i * g, h' = o * tanh(c'); `gates` holds i, f, g and o before their activations.
CCGYM_VECTORISED void update(double* gates, double* cell, double* state, std::size_t hidden) {
  double* const input = gates;
  double* const forget = input + hidden;
  double* const candidate = forget + hidden;
  double* const output = candidate + hidden;
  for (std::size_t i = 0; i < 2 * hidden; ++i) input[i] = sigmoid(input[i]);
  for (std::size_t i = 0; i < hidden; ++i) candidate[i] = hyperbolic_tangent(candidate[i]);
  for (std::size_t i = 0; i < hidden; ++i) output[i] = sigmoid(output[i]);
  for (std::size_t i = 0; i < hidden; ++i) cell[i] = forget[i] * cell[i] + input[i] * candidate[i];
  for (std::size_t i = 0; i < hidden; ++i) state[i] = output[i] * hyperbolic_tangent(cell[i]);
}

}  // namespace

LstmNetwork::LstmNetwork(const LstmWeights& weights)
    : inputs_{checked(weights).inputs},
      hidden_{weights.hidden},
      gate_layer_{gate_layer(weights)},
      head_{weights.head_weight, weights.head_bias},
      gate_inputs_(weights.inputs + weights.hidden),
      gates_(4 * weights.hidden),
      cell_(weights.hidden),
      head_outputs_(weights.outputs),
      outputs_(weights.outputs) {}

std::unique_ptr<PolicyNetwork> LstmNetwork::clone() const { return std::make_unique<LstmNetwork>(*this); }

std::vector<double> LstmNetwork::state() const {
  std::vector<double> both(gate_inputs_.begin() + static_cast<std::ptrdiff_t>(inputs_), gate_inputs_.end());
  both.insert(both.end(), cell_.begin(), cell_.end());
  return both;
}

void LstmNetwork::reset() {
  std::ranges::fill(gate_inputs_, 0.0);
  std::ranges::fill(cell_, 0.0);
}

std::span<const float> LstmNetwork::step(std::span<const float> observation) {
  check_observation(observation);
  std::ranges::copy(observation, gate_inputs_.begin());
  gate_layer_.apply(gate_inputs_, gates_);
  update(gates_.data(), cell_.data(), gate_inputs_.data() + inputs_, hidden_);
  head_.apply(std::span{gate_inputs_}.subspan(inputs_), head_outputs_);
  std::ranges::transform(head_outputs_, outputs_.begin(),
                         [](double output) { return static_cast<float>(output); });
  return outputs_;
}

}  // namespace ccgym
