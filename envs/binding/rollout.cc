#include "envs/twin/rollout.hh"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "agents/policy/action_sets.hh"
#include "agents/policy/policy_file.hh"
#include "envs/binding/arrays.hh"
#include "envs/binding/bind.hh"
#include "envs/twin/gym_path.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Array = nb::ndarray<T, nb::numpy, nb::c_contig>;

// The network of a policy, which is only read, so that several threads may use it at once.
struct InferencePolicy {
  std::unique_ptr<PolicyNetwork> network;
};

void check_plan(const Array<const double>& ideal_packets, double ideal_step_ms, std::size_t learners,
                std::size_t decisions, std::size_t sequence_decisions) {
  if (learners == 0) throw std::invalid_argument("the path has no flow that learns");
  if (sequence_decisions == 0 || decisions % sequence_decisions != 0)
    throw std::invalid_argument("sequence_decisions must divide the decisions of a flow");
  if (!(ideal_step_ms > 0) || ideal_packets.ndim() != 2 || ideal_packets.shape(0) != learners ||
      ideal_packets.shape(1) == 0) {
    throw std::invalid_argument("ideal_packets should be of shape (" + std::to_string(learners) +
                                ", G), a row for each flow that learns, G at least 1");
  }
}

void roll_out(const PathSpec& path, const InferencePolicy& inference, const std::string& features,
              const std::string& actions, double preference, uint64_t seed,
              const Array<const double>& ideal_packets, const Array<const float>& perturbed_acts,
              const Array<float>& observations, const Array<float>& acts, const Array<float>& labels,
              const Array<float>& states, std::size_t sequence_decisions, double ideal_step_ms,
              bool expert_acts, bool companion) {
  const PolicySpec policy = checked_policy({.feature_set = feature_set_by_name(features),
                                            .actions = action_set_by_name(actions),
                                            .preference = preference,
                                            .companion = companion});
  const std::size_t learners = count_learners(flows_of(path));
  const std::size_t decisions = learners == 0 ? 0 : acts.size() / learners;
  check_plan(ideal_packets, ideal_step_ms, learners, decisions, sequence_decisions);
  const std::size_t rows = learners * decisions;
  const std::size_t width = feature_divisors(policy.feature_set).size();
  const RolloutPlan plan{.decisions = decisions,
                         .sequence_decisions = sequence_decisions,
                         .ideal_step_ms = ideal_step_ms,
                         .ideal_packets = {ideal_packets.data(), ideal_packets.size()},
                         .perturbed_acts = checked_elements(perturbed_acts, "perturbed_acts", rows),
                         .expert_acts = expert_acts};
  const RolloutRecord record{
      .observations = checked_elements(observations, "observations", rows * width),
      .acts = checked_elements(acts, "acts", rows),
      .labels = checked_elements(labels, "labels", rows),
      .states =
          checked_elements(states, "states", rows / sequence_decisions * inference.network->state().size())};
  const nb::gil_scoped_release unlocked;
  rollout(path, policy, *inference.network, seed, plan, record);
}

}  // namespace

void bind_rollout(nb::module_& module) {
  nb::class_<InferencePolicy>(module, "InferencePolicy", "A policy file's network, to roll out over paths.")
      .def(
          "__init__",
          [](InferencePolicy* self, const std::string& file) {
            new (self) InferencePolicy{load_policy(file).network};
          },
          "file"_a);
  module.def("rollout", &roll_out, "path"_a, "inference"_a, nb::kw_only(), "features"_a, "actions"_a,
             "preference"_a, "seed"_a, "ideal_packets"_a, "perturbed_acts"_a, "observations"_a.noconvert(),
             "acts"_a.noconvert(), "labels"_a.noconvert(), "states"_a.noconvert(), "sequence_decisions"_a,
             "ideal_step_ms"_a, "expert_acts"_a, "companion"_a = false,
             "Simulates a path and its n learning flows for T decisions. Reads `ideal_packets` (n, G) "
             "float64, the ideal windows at every `ideal_step_ms` of the path's time, and `perturbed_acts` "
             "(n, T) float32, NaN for none. Writes `observations` (n, T, I), `acts` (n, T), `labels` (n, T), "
             "NaN where there was no decision, and `states` (n, T / sequence_decisions, S), all float32.");
  module.def(
      "expert_act",
      [](const std::string& actions, double cwnd_packets, double ideal_packets) {
        return expert_act(action_set_by_name(actions), cwnd_packets, ideal_packets);
      },
      "actions"_a, "cwnd_packets"_a, "ideal_packets"_a,
      "The act that brings a window nearest to the ideal one: the label in imitation learning.");
}

}  // namespace ccgym
