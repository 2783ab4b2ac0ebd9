#include "agents/policy/layers.hh"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "agents/policy/activations.hh"
#include "agents/policy/vectorised.hh"
#include "transport/name_list.hh"

namespace ccgym {

namespace {

void check_size(std::string_view tensor, const std::vector<float>& values, std::size_t expected) {
  if (values.size() == expected) return;
  throw std::invalid_argument("policy network: " + std::string{tensor} + " has " +
                              std::to_string(values.size()) + " entries, should have " +
                              std::to_string(expected));
}

void check_sizes(std::size_t inputs, std::size_t outputs) {
  if (inputs > 0 && outputs > 0) return;
  throw std::invalid_argument("policy network: the sizes of its layers should be 1 or more");
}

const LinearWeights& checked(const LinearWeights& weights) {
  check_sizes(weights.inputs, weights.outputs);
  check_size("weight", weights.weight, weights.inputs * weights.outputs);
  check_size("bias", weights.bias, weights.outputs);
  return weights;
}

const RecurrentWeights& checked(const RecurrentWeights& weights, std::size_t gates) {
  check_sizes(weights.inputs, weights.hidden);
  check_size("weight_ih", weights.weight_ih, gates * weights.hidden * weights.inputs);
  check_size("weight_hh", weights.weight_hh, gates * weights.hidden * weights.hidden);
  check_size("bias_ih", weights.bias_ih, gates * weights.hidden);
  check_size("bias_hh", weights.bias_hh, gates * weights.hidden);
  return weights;
}

const NormWeights& checked(const NormWeights& weights) {
  check_sizes(weights.weight.size(), weights.bias.size());
  check_size("bias", weights.bias, weights.weight.size());
  return weights;
}

// One matrix [4*hidden, inputs + hidden] and one bias for the gates.
TransposedLinear gate_layer(const RecurrentWeights& weights) {
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
CCGYM_VECTORISED void update_lstm(double* gates, double* cell, double* state, std::size_t hidden) {
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

// torch.nn.GRU: n = tanh(x_n + r * h_n), h' = (1 - z) * n + z * h; `x` and `h` hold r, z and n before theirs.
CCGYM_VECTORISED void update_gru(double* x, const double* h, double* state, std::size_t hidden) {
  double* const reset = x;
  double* const update = reset + hidden;
  double* const candidate = update + hidden;
  for (std::size_t i = 0; i < 2 * hidden; ++i) reset[i] = sigmoid(reset[i] + h[i]);
  for (std::size_t i = 0; i < hidden; ++i)
    candidate[i] = hyperbolic_tangent(candidate[i] + reset[i] * h[2 * hidden + i]);
  for (std::size_t i = 0; i < hidden; ++i) state[i] = (1 - update[i]) * candidate[i] + update[i] * state[i];
}

CCGYM_VECTORISED void apply_tanh(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = hyperbolic_tangent(values[i]);
}
CCGYM_VECTORISED void apply_sigmoid(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = sigmoid(values[i]);
}
CCGYM_VECTORISED void apply_silu(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] *= sigmoid(values[i]);
}
void apply_relu(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = values[i] > 0 ? values[i] : 0;
}
void apply_leaky_relu(double* values, std::size_t count) {
  constexpr double kSlope = 0.01;
  for (std::size_t i = 0; i < count; ++i) values[i] = values[i] > 0 ? values[i] : kSlope * values[i];
}
void apply_elu(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    values[i] = values[i] > 0 ? values[i] : exp_minus_one(clip(values[i], 40));
}
void apply_gelu(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] *= 0.5 * (1 + std::erf(values[i] / std::numbers::sqrt2));
}

}  // namespace

Linear::Linear(const LinearWeights& weights)
    : inputs_{checked(weights).inputs}, outputs_{weights.outputs}, map_{weights.weight, weights.bias} {}

Lstm::Lstm(const RecurrentWeights& weights)
    : gate_layer_{gate_layer(checked(weights, 4))},
      gate_inputs_(weights.inputs + weights.hidden),
      gates_(4 * weights.hidden),
      cell_(weights.hidden) {}

void Lstm::apply(std::span<const double> inputs, std::span<double> outputs) {
  std::ranges::copy(inputs, gate_inputs_.begin());
  gate_layer_.apply(gate_inputs_, gates_);
  update_lstm(gates_.data(), cell_.data(), gate_inputs_.data() + inputs.size(), cell_.size());
  std::ranges::copy(std::span{gate_inputs_}.subspan(inputs.size()), outputs.begin());
}

void Lstm::reset() {
  std::ranges::fill(gate_inputs_, 0.0);
  std::ranges::fill(cell_, 0.0);
}

void Lstm::add_state(std::vector<double>& state) const {
  state.insert(state.end(), gate_inputs_.begin() + static_cast<std::ptrdiff_t>(inputs()), gate_inputs_.end());
  state.insert(state.end(), cell_.begin(), cell_.end());
}

Gru::Gru(const RecurrentWeights& weights)
    : inputs_{checked(weights, 3).inputs},
      input_layer_{weights.weight_ih, weights.bias_ih},
      hidden_layer_{weights.weight_hh, weights.bias_hh},
      from_inputs_(3 * weights.hidden),
      from_hidden_(3 * weights.hidden),
      state_(weights.hidden) {}

void Gru::apply(std::span<const double> inputs, std::span<double> outputs) {
  input_layer_.apply(inputs, from_inputs_);
  hidden_layer_.apply(state_, from_hidden_);
  update_gru(from_inputs_.data(), from_hidden_.data(), state_.data(), state_.size());
  std::ranges::copy(state_, outputs.begin());
}

void Gru::reset() { std::ranges::fill(state_, 0.0); }

void Gru::add_state(std::vector<double>& state) const {
  state.insert(state.end(), state_.begin(), state_.end());
}

LayerNorm::LayerNorm(const NormWeights& weights)
    : weight_(checked(weights).weight.begin(), weights.weight.end()),
      bias_(weights.bias.begin(), weights.bias.end()) {}

void LayerNorm::apply(std::span<const double> inputs, std::span<double> outputs) const {
  constexpr double kEpsilon = 1e-5;
  const auto count = static_cast<double>(inputs.size());
  double mean = 0;
  for (const double value : inputs) mean += value / count;
  double variance = 0;
  for (const double value : inputs) variance += (value - mean) * (value - mean) / count;
  const double scale = 1 / std::sqrt(variance + kEpsilon);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    outputs[i] = (inputs[i] - mean) * scale * weight_[i] + bias_[i];
}

Activation::Activation(std::string_view name, std::size_t size) : function_{function(name)}, size_{size} {}

Activation::Function Activation::function(std::string_view name) {
  constexpr std::array<Function, kActivations.size()> kFunctions{
      apply_tanh, apply_sigmoid, apply_relu, apply_leaky_relu, apply_elu, apply_silu, apply_gelu};
  const auto* const found = std::ranges::find(kActivations, name);
  if (found != kActivations.end()) return kFunctions[static_cast<std::size_t>(found - kActivations.begin())];
  throw std::invalid_argument("unknown layer '" + std::string{name} +
                              "': known are linear, lstm, gru, layer_norm, " + name_list(kActivations));
}

void Activation::apply(std::span<const double> inputs, std::span<double> outputs) const {
  std::ranges::copy(inputs, outputs.begin());
  function_(outputs.data(), outputs.size());
}

}  // namespace ccgym
