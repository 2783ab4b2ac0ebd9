// The arithmetic of fitting a network, for Python: products of matrices, tanh, an LSTM and its gradient.
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "agents/learning/lstm_pass.hh"
#include "agents/learning/matrix_product.hh"
#include "agents/learning/tanh.hh"
#include "envs/binding/bind.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Matrix = nb::ndarray<const float, nb::numpy, nb::ndim<2>, nb::device::cpu>;
using Dense = nb::ndarray<const float, nb::numpy, nb::c_contig, nb::device::cpu>;
using Owned = nb::ndarray<float, nb::numpy>;

Owned owned(std::vector<float> values, std::initializer_list<std::size_t> shape) {
  auto kept = std::make_unique<std::vector<float>>(std::move(values));
  const nb::capsule owner{kept.get(),
                          [](void* data) noexcept { delete static_cast<std::vector<float>*>(data); }};
  return {kept.release()->data(), shape, owner};
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
    const nb::gil_scoped_release others_run;
    add_product(view(a), view(b), c.data(), b.shape(1));
  }
  return owned(std::move(c), {a.shape(0), b.shape(1)});
}

Owned tanh_of(const Dense& values) {
  std::vector<float> results(values.size());
  apply_tanh({values.data(), values.size()}, results);
  return owned(std::move(results), {values.size()});
}

std::span<const float> checked(const Dense& array, const char* name, std::size_t size) {
  if (array.size() == size) return {array.data(), size};
  throw std::invalid_argument(std::string{name} + " has " + std::to_string(array.size()) +
                              " entries, should have " + std::to_string(size));
}

LstmPass run_lstm(const Dense& observations, const Dense& hidden, const Dense& cell, const Dense& weight_ih,
                  const Dense& weight_hh, const Dense& bias_ih, const Dense& bias_hh) {
  if (observations.ndim() != 3 || hidden.ndim() != 2)
    throw std::invalid_argument("observations should be of shape (N, T, I), hidden of (N, H)");
  const LstmSizes sizes{observations.shape(0), observations.shape(1), observations.shape(2), hidden.shape(1)};
  const std::size_t gates = 4 * sizes.hidden;
  const LstmParameters parameters{checked(weight_ih, "weight_ih", gates * sizes.inputs),
                                  checked(weight_hh, "weight_hh", gates * sizes.hidden),
                                  checked(bias_ih, "bias_ih", gates), checked(bias_hh, "bias_hh", gates)};
  const std::size_t state = sizes.flows * sizes.hidden;
  const std::span<const float> seen{observations.data(), observations.size()};
  const std::span<const float> first_hidden = checked(hidden, "hidden", state);
  const std::span<const float> first_cell = checked(cell, "cell", state);
  const nb::gil_scoped_release others_run;
  return LstmPass{sizes, parameters, seen, first_hidden, first_cell};
}

std::tuple<Owned, Owned, Owned> lstm_gradient(LstmPass& pass, const Dense& by_outputs) {
  const LstmSizes& sizes = pass.sizes();
  const std::span<const float> given = checked(by_outputs, "by_outputs", pass.outputs().size());
  LstmGradient gradient;
  {
    const nb::gil_scoped_release others_run;
    gradient = pass.gradient(given);
  }
  const std::size_t gates = 4 * sizes.hidden;
  return {owned(std::move(gradient.weight_ih), {gates, sizes.inputs}),
          owned(std::move(gradient.weight_hh), {gates, sizes.hidden}),
          owned(std::move(gradient.bias), {gates})};
}

}  // namespace

void bind_learning(nb::module_& module) {
  module.def("matrix_product", &product, "a"_a, "b"_a,
             "a (M, K) times b (K, N), float32; transposed views are taken as they are.");
  module.def("tanh", &tanh_of, "values"_a, "Of each value, float32, in one dimension.");
  nb::class_<LstmPass>(module, "LstmPass", "An LSTM's run over sequences, as torch.nn.LSTM's (batch first).")
      .def_static("run", &run_lstm, "observations"_a, "hidden"_a, "cell"_a, "weight_ih"_a, "weight_hh"_a,
                  "bias_ih"_a, "bias_hh"_a, "observations (N, T, I), from the state hidden and cell (N, H).")
      .def(
          "outputs",
          [](const LstmPass& pass) {
            const LstmSizes& sizes = pass.sizes();
            return owned(pass.outputs(), {sizes.flows, sizes.steps, sizes.hidden});
          },
          "Hidden states (N, T, H).")
      .def("gradient", &lstm_gradient, "by_outputs"_a,
           "Of a loss by weight_ih, weight_hh and each bias, from that by the outputs (N, T, H); only once.");
}

}  // namespace ccgym
