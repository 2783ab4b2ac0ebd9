// The layers that a policy's network may be made of, as torch.nn has them; each decision passes them in turn.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "agents/policy/transposed_linear.hh"

namespace ccgym {

// Weights in PyTorch's layouts, row-major.
struct LinearWeights {
  std::size_t inputs{};
  std::size_t outputs{};
  std::vector<float> weight{};  // [outputs, inputs]
  std::vector<float> bias{};    // [outputs]
};

struct RecurrentWeights {  // g gates: 4 of an LSTM in the order i, f, g, o; 3 of a GRU in the order r, z, n
  std::size_t inputs{};
  std::size_t hidden{};
  std::vector<float> weight_ih{};  // [g*hidden, inputs]
  std::vector<float> weight_hh{};  // [g*hidden, hidden]
  std::vector<float> bias_ih{};    // [g*hidden]
  std::vector<float> bias_hh{};    // [g*hidden]
};

struct NormWeights {
  std::vector<float> weight{};
  std::vector<float> bias{};
};

class Linear {
 public:
  explicit Linear(const LinearWeights& weights);  // throws std::invalid_argument when shapes disagree
  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }
  void apply(std::span<const double> inputs, std::span<double> outputs) { map_.apply(inputs, outputs); }
  void reset() {}
  void add_state(std::vector<double>& /*state*/) const {}

 private:
  std::size_t inputs_;
  std::size_t outputs_;
  TransposedLinear map_;
};

class Lstm {
 public:
  explicit Lstm(const RecurrentWeights& weights);  // throws as Linear's
  [[nodiscard]] std::size_t inputs() const { return gate_inputs_.size() - cell_.size(); }
  [[nodiscard]] std::size_t outputs() const { return cell_.size(); }
  void apply(std::span<const double> inputs, std::span<double> outputs);
  void reset();
  void add_state(std::vector<double>& state) const;  // hidden, then cell

 private:
  TransposedLinear gate_layer_;      // [inputs, hidden state] -> gates i, f, g, o
  std::vector<double> gate_inputs_;  // inputs, then hidden state
  std::vector<double> gates_;
  std::vector<double> cell_;
};

class Gru {
 public:
  explicit Gru(const RecurrentWeights& weights);  // throws as Linear's
  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t outputs() const { return state_.size(); }
  void apply(std::span<const double> inputs, std::span<double> outputs);
  void reset();
  void add_state(std::vector<double>& state) const;

 private:
  std::size_t inputs_;
  TransposedLinear input_layer_;   // inputs -> r, z, n
  TransposedLinear hidden_layer_;  // hidden state -> r, z, n
  std::vector<double> from_inputs_;
  std::vector<double> from_hidden_;
  std::vector<double> state_;
};

class LayerNorm {  // over all of its inputs, with PyTorch's default epsilon
 public:
  explicit LayerNorm(const NormWeights& weights);  // throws as Linear's
  [[nodiscard]] std::size_t inputs() const { return weight_.size(); }
  [[nodiscard]] std::size_t outputs() const { return weight_.size(); }
  void apply(std::span<const double> inputs, std::span<double> outputs) const;
  void reset() {}
  void add_state(std::vector<double>& /*state*/) const {}

 private:
  std::vector<double> weight_;
  std::vector<double> bias_;
};

// With PyTorch's default arguments.
inline constexpr std::array<std::string_view, 7> kActivations{"tanh", "sigmoid", "relu", "leaky_relu",
                                                              "elu",  "silu",    "gelu"};

class Activation {
 public:
  Activation(std::string_view name, std::size_t size);  // throws std::invalid_argument naming the known ones
  [[nodiscard]] std::size_t inputs() const { return size_; }
  [[nodiscard]] std::size_t outputs() const { return size_; }
  void apply(std::span<const double> inputs, std::span<double> outputs) const;
  void reset() {}
  void add_state(std::vector<double>& /*state*/) const {}

 private:
  using Function = void (*)(double* values, std::size_t count);

  static Function function(std::string_view name);

  Function function_;
  std::size_t size_;
};

using Layer = std::variant<Linear, Lstm, Gru, LayerNorm, Activation>;

}  // namespace ccgym
