#include "envs/twin/path_batch.hh"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "envs/binding/arrays.hh"
#include "envs/binding/bind.hh"
#include "envs/binding/matrix_argument.hh"
#include "envs/twin/telemetry.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Vector = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig>;

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument(message);
}

constexpr int64_t kMaxStepMs = 60'000;
constexpr std::size_t kMaxThreads = 1024;

template <class T>
std::span<T> rows_of(const MatrixArgument<T>& matrix, const char* name, std::size_t rows,
                     std::size_t columns) {
  if (matrix.rows != rows || matrix.columns != columns) [[unlikely]]
    throw std::invalid_argument(std::string{name} + " must have shape (" + std::to_string(rows) + ", " +
                                std::to_string(columns) + ")");
  return matrix.values;
}

void construct(PathBatch* self, std::vector<PathSpec> paths, const std::string& features,
               const std::string& actions, int64_t step_ms, double initial_cwnd_packets,
               double min_cwnd_packets, double max_cwnd_packets, bool companion, std::size_t threads) {
  require(!paths.empty(), "a batch needs at least one path");
  require(step_ms > 0 && step_ms <= kMaxStepMs, "step_ms must be within 1 and " + std::to_string(kMaxStepMs));
  require(threads > 0 && threads <= kMaxThreads,
          "threads must be within 1 and " + std::to_string(kMaxThreads));
  require(min_cwnd_packets >= 1 && min_cwnd_packets <= initial_cwnd_packets &&
              initial_cwnd_packets <= max_cwnd_packets,
          "1 <= min_cwnd_packets <= initial_cwnd_packets <= max_cwnd_packets must hold");
  new (self) PathBatch{std::move(paths),
                       {.policy = checked_policy({.feature_set = feature_set_by_name(features),
                                                  .actions = action_set_by_name(actions),
                                                  .step = std::chrono::milliseconds{step_ms},
                                                  .initial_cwnd_packets = initial_cwnd_packets,
                                                  .min_cwnd_packets = min_cwnd_packets,
                                                  .max_cwnd_packets = max_cwnd_packets,
                                                  .companion = companion}),
                        .threads = threads}};
}

void reset(PathBatch& batch, const Vector<const int32_t>& paths, const Vector<const uint64_t>& seeds,
           const MatrixArgument<float>& observations) {
  require(paths.size() == seeds.size(), "reset needs one seed for each path");
  for (std::size_t i = 0; i < paths.size(); ++i) {
    require(paths(i) >= 0 && static_cast<std::size_t>(paths(i)) < batch.paths(),
            "path " + std::to_string(paths(i)) + " is not within the batch");
  }
  const auto rows = rows_of(observations, "observations", batch.rows(), batch.observation_size());
  const nb::gil_scoped_release unlocked;
  batch.reset({paths.data(), paths.size()}, {seeds.data(), seeds.size()}, rows);
}

void step(PathBatch& batch, const MatrixArgument<const float>& actions,
          const MatrixArgument<float>& observations, const MatrixArgument<double>& telemetry) {
  const auto acts = rows_of(actions, "actions", batch.rows(), batch.action_width());
  const auto rows = rows_of(observations, "observations", batch.rows(), batch.observation_size());
  const auto columns = rows_of(telemetry, "telemetry", batch.rows(), kTelemetry.size());
  const nb::gil_scoped_release unlocked;
  batch.step(acts, rows, columns);
}

// A new array with one value for each row of the batch.
template <class Value, auto Method>
NumpyVector<Value> for_each_row(const PathBatch& batch) {
  std::vector<Value> values(batch.rows());
  for (std::size_t row = 0; row < batch.rows(); ++row) values[row] = static_cast<Value>((batch.*Method)(row));
  return to_numpy(std::move(values));
}

std::map<std::string, std::vector<float>> features_table() {
  std::map<std::string, std::vector<float>> table;
  for (const FeatureSet set : kFeatureSets) {
    const auto divisors = feature_divisors(set);
    table.emplace(feature_set_name(set), std::vector<float>{divisors.begin(), divisors.end()});
  }
  return table;
}

std::map<std::string, std::size_t> actions_table() {
  std::map<std::string, std::size_t> table;
  for (const ActionSet set : kActionSets) table.emplace(action_set_name(set), output_count(set));
  return table;
}

// A copy of the state of all paths and flows.
struct BatchState {
  PathBatch::State paths;
};

void add_constants(nb::module_& module) {
  module.attr("FLOW_STATES") = std::vector<std::string>{"waiting", "running", "deciding", "gone"};
  module.attr("TELEMETRY") = std::vector<std::string>{kTelemetry.begin(), kTelemetry.end()};
  module.attr("RAW_FEATURES") =
      std::vector<std::string>{RawFeatures::kNames.begin(), RawFeatures::kNames.end()};
  module.attr("POLICY_FEATURES") = features_table();
  module.attr("POLICY_ACTIONS") = actions_table();
}

void bind_properties(nb::class_<PathBatch>& bound) {
  bound.def_prop_ro("paths", &PathBatch::paths, "Number of paths.")
      .def_prop_ro("observation_size", &PathBatch::observation_size)
      .def_prop_ro("cwnd_packets", &for_each_row<double, &PathBatch::cwnd_packets>, nb::rv_policy::move,
                   "Windows (rows,), a copy; 0 before the first reset.")
      .def_prop_ro("times_ms", &for_each_row<double, &PathBatch::now_ms>, nb::rv_policy::move,
                   "The time of each row (rows,), since its path began; a copy.")
      .def_prop_ro("action_size", &PathBatch::action_width, "Number of values in an action.")
      .def_prop_ro(
          "states", &for_each_row<uint8_t, &PathBatch::state>, nb::rv_policy::move,
          "The state of each row (rows,), uint8, as an index into FLOW_STATES. Only rows in the state "
          "\"deciding\" need an action.");
}

void bind_methods(nb::class_<PathBatch>& bound) {
  bound
      .def("set_path", &PathBatch::set_path, "index"_a, "path"_a,
           "Replaces a path, with effect from its next reset. It must have as many learning flows as before.")
      .def("set_cwnd", &PathBatch::set_cwnd, "row"_a, "cwnd_packets"_a,
           "Sets the window of a row; `cwnd_packets` is within the limits of the batch.")
      .def("reset", &reset, "paths"_a, "seeds"_a, "observations"_a.noconvert(),
           "Restarts the paths `paths` (int32) with `seeds` (uint64), runs each to its first decision, and "
           "writes its rows of `observations` (rows, observation_size) float32, zeros for a flow that does "
           "not decide yet.")
      .def(
          "save", [](const PathBatch& batch) { return BatchState{batch.save()}; },
          "Copies the state of all paths.")
      .def(
          "restore", [](PathBatch& batch, const BatchState& state) { batch.restore(state.paths); }, "state"_a,
          "Continues from a saved state, of a batch with as many paths and the same policy.")
      .def("step", &step, "actions"_a, "observations"_a.noconvert(), "telemetry"_a.noconvert(),
           "Applies `actions` (rows, action_size) float32 of the rows that decide, runs to the next "
           "decisions, and writes `observations` (rows, observation_size) float32 and `telemetry` (rows, "
           "len(TELEMETRY)) float64 in place. A row that does not decide then keeps its observation, and its "
           "telemetry is zero.");
}

}  // namespace

void bind_path_batch(nb::module_& module) {
  const nb::class_<BatchState> batch_state{module, "BatchState",
                                           "A copy of the state of all paths of a PathBatch."};
  nb::class_<PathBatch> batch(
      module, "PathBatch",
      "Many paths with learning flows, simulated for one decision per call. Each learning "
      "flow is one row; the rows of a path are consecutive, in the order of its flows.");
  batch
      .def("__init__", &construct, "paths"_a, nb::kw_only(), "features"_a, "actions"_a, "step_ms"_a = 10,
           "initial_cwnd_packets"_a = 10.0, "min_cwnd_packets"_a = 2.0, "max_cwnd_packets"_a = 100'000.0,
           "companion"_a = false, "threads"_a = 1,
           "The flows of a path that name no scheme learn; a path without flows has one that learns. All "
           "learning flows of a path decide at the same times.")
      .def("__len__", &PathBatch::rows);
  bind_properties(batch);
  bind_methods(batch);
  add_constants(module);
}

}  // namespace ccgym
