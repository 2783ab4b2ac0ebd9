// The arithmetic of training a network, for Python: matrix products, tanh, and an LSTM with its gradient.
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "agents/learning/lstm_pass.hh"
#include "agents/learning/matrix_product.hh"
#include "agents/learning/tanh.hh"
#include "envs/binding/arrays.hh"
#include "envs/binding/bind.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Matrix = nb::ndarray<const float, nb::numpy, nb::ndim<2>, nb::device::cpu>;
using Dense = nb::ndarray<const float, nb::numpy, nb::c_contig, nb::device::cpu>;
using Owned = nb::ndarray<float, nb::numpy>;

Owned owned(std::vector<float> values, std::initializer_list<std::size_t> shape) {
  return to_array<Owned>(std::move(values), shape);
}

MatrixView view(const Matrix& matrix) {
  return {matrix.data(), matrix.shape(0), matrix.shape(1), matrix.stride(0), matrix.stride(1)};
}

Owned product(const Matrix& a, const Matrix& b) {
  if (a.shape(1) != b.shape(0)) {
    throw std::invalid_argument("a has " + std::to_string(a.shape(1)) + " columns, b " +
                                std::to_string(b.shape(0)) + " rows, should be as many");
  }
  std::vector<float> c(a.shape(0) * b.shape(1));
  {
    const nb::gil_scoped_release unlocked;
    add_product(view(a), view(b), c.data(), b.shape(1));
  }
  return owned(std::move(c), {a.shape(0), b.shape(1)});
}

Owned tanh_of(const Dense& values) {
  std::vector<float> results(values.size());
  apply_tanh({values.data(), values.size()}, results);
  return owned(std::move(results), {values.size()});
}

LstmPass run_lstm(const Dense& observations, const Dense& hidden, const Dense& cell, const Dense& weight_ih,
                  const Dense& weight_hh, const Dense& bias_ih, const Dense& bias_hh) {
  if (observations.ndim() != 3 || hidden.ndim() != 2)
    throw std::invalid_argument("observations should be of shape (N, T, I), hidden of (N, H)");
  const LstmSizes sizes{observations.shape(0), observations.shape(1), observations.shape(2), hidden.shape(1)};
  const std::size_t gates = 4 * sizes.hidden;
  const LstmParameters parameters{checked_elements(weight_ih, "weight_ih", gates * sizes.inputs),
                                  checked_elements(weight_hh, "weight_hh", gates * sizes.hidden),
                                  checked_elements(bias_ih, "bias_ih", gates),
                                  checked_elements(bias_hh, "bias_hh", gates)};
  const std::size_t state = sizes.flows * sizes.hidden;
  const std::span<const float> inputs{observations.data(), observations.size()};
  const std::span<const float> first_hidden = checked_elements(hidden, "hidden", state);
  const std::span<const float> first_cell = checked_elements(cell, "cell", state);
  const nb::gil_scoped_release unlocked;
  return LstmPass{sizes, parameters, inputs, first_hidden, first_cell};
}

std::tuple<Owned, Owned, Owned> lstm_gradient(LstmPass& pass, const Dense& by_outputs) {
  const LstmSizes& sizes = pass.sizes();
  const std::span<const float> output_gradient =
      checked_elements(by_outputs, "by_outputs", pass.outputs().size());
  LstmGradient gradient;
  {
    const nb::gil_scoped_release unlocked;
    gradient = pass.gradient(output_gradient);
  }
  const std::size_t gates = 4 * sizes.hidden;
  return {owned(std::move(gradient.weight_ih), {gates, sizes.inputs}),
          owned(std::move(gradient.weight_hh), {gates, sizes.hidden}),
          owned(std::move(gradient.bias), {gates})};
}

}  // namespace

void bind_learning(nb::module_& module) {
  module.def("matrix_product", &product, "a"_a, "b"_a,
             "The product (M, N) of a (M, K) and b (K, N), float32. Transposed views are not copied.");
  module.def("tanh", &tanh_of, "values"_a, "The tanh of each value, float32, as an array of one dimension.");
  nb::class_<LstmPass>(module, "LstmPass",
                       "The forward pass of an LSTM over sequences, as torch.nn.LSTM with batch_first.")
      .def_static("run", &run_lstm, "observations"_a, "hidden"_a, "cell"_a, "weight_ih"_a, "weight_hh"_a,
                  "bias_ih"_a, "bias_hh"_a,
                  "Runs over observations (N, T, I), float32, from the initial state hidden and cell (N, H).")
      .def(
          "outputs",
          [](const LstmPass& pass) {
            const LstmSizes& sizes = pass.sizes();
            return owned(pass.outputs(), {sizes.flows, sizes.steps, sizes.hidden});
          },
          "The hidden states (N, T, H), float32.")
      .def("gradient", &lstm_gradient, "by_outputs"_a,
           "The gradient of a loss with respect to weight_ih, weight_hh and each bias, from by_outputs (N, "
           "T, H), the gradient with respect to the outputs. To be called only once.");
}

}  // namespace ccgym
