// The policy file as the C++ controller reads it, for Python: checks and parity tests.
#include "envs/binding/bind.hh"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include "agents/policy/policy_file.hh"

namespace ccgym {

namespace nb = nanobind;

namespace {

using Observations = nb::ndarray<const float, nb::numpy, nb::ndim<2>, nb::c_contig>;
using Outputs = nb::ndarray<float, nb::numpy, nb::ndim<2>>;

Outputs evaluate(const std::string& file, const Observations& observations) {
  const std::unique_ptr<PolicyNetwork> network = load_policy(file).network;
  const std::size_t rows = observations.shape(0);
  auto* const outputs = new float[rows * network->outputs()];
  nb::capsule owner{outputs, [](void* data) noexcept { delete[] static_cast<float*>(data); }};
  for (std::size_t row = 0; row < rows; ++row) {
    const std::span observation{observations.data() + row * observations.shape(1), observations.shape(1)};
    std::ranges::copy(network->step(observation), outputs + row * network->outputs());
  }
  return {outputs, {rows, network->outputs()}, owner};
}

}  // namespace

void bind_policy(nb::module_& module) {
  module.def(
      "check_policy", [](const std::string& file) { load_policy(file); }, nb::arg("file"),
      "RuntimeError, one line, unless `file` is a policy that the `policy` controller runs.");
  module.def(
      "evaluate_policy", &evaluate, nb::arg("file"), nb::arg("observations"),
      "Outputs (T, O) of the policy in `file` over the observations (T, I) of one flow, from zero state.");
}

}  // namespace ccgym
