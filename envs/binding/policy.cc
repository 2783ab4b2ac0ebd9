// Policy files as the C++ controller reads them, for checks and parity tests in Python.
#include "envs/binding/bind.hh"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/policy/policy_file.hh"
#include "envs/binding/arrays.hh"

namespace ccgym {

namespace nb = nanobind;

namespace {

using Observations = nb::ndarray<const float, nb::numpy, nb::ndim<2>, nb::c_contig>;
using Outputs = nb::ndarray<float, nb::numpy, nb::ndim<2>>;

Outputs evaluate(const std::string& file, const Observations& observations) {
  const std::unique_ptr<PolicyNetwork> network = load_policy(file).network;
  const std::size_t rows = observations.shape(0);
  std::vector<float> outputs(rows * network->outputs());
  for (std::size_t row = 0; row < rows; ++row) {
    const std::span observation{observations.data() + row * observations.shape(1), observations.shape(1)};
    std::ranges::copy(network->step(observation), &outputs[row * network->outputs()]);
  }
  return to_array<Outputs>(std::move(outputs), {rows, network->outputs()});
}

}  // namespace

void bind_policy(nb::module_& module) {
  module.def(
      "check_policy", [](const std::string& file) { load_policy(file); }, nb::arg("file"),
      "RuntimeError, with one line, if `file` is no policy that the controller `policy` can run.");
  module.def("evaluate_policy", &evaluate, nb::arg("file"), nb::arg("observations"),
             "The outputs (T, O) of the policy in `file` for the observations (T, I) of one flow, from the "
             "state zero.");
}

}  // namespace ccgym
