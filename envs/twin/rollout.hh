// Many decisions in one call, without Python in between. A network or an expert decides for the learners of a
// path, and what every decision was based on is recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "agents/policy/policy_network.hh"
#include "agents/policy/policy_spec.hh"
#include "envs/twin/path.hh"

namespace ccgym {

// For n learners and up to T decisions of each; arrays are row-major.
struct RolloutPlan {
  std::size_t decisions{};                  // T
  std::size_t sequence_decisions{};         // the network's memory is recorded once in so many decisions
  double ideal_step_ms{};                   // resolution of the ideal windows
  std::span<const double> ideal_packets{};  // n x G, by the path's time; the last one holds from then on
  std::span<const float> perturbed_acts{};  // n x T: override the network's or the expert's acts; NaN: none
  bool expert_acts{};                       // false: the network acts
};

struct RolloutRecord {
  std::span<float> observations{};  // n x T x I
  std::span<float> acts{};          // n x T: what the network would do, even where it did not act
  std::span<float> labels{};        // n x T: what the expert would do; NaN: there was no decision
  std::span<float> states{};        // n x (T / sequence_decisions) x S, with S numbers of memory
};

// Simulates a path from its beginning until its learners have had T chances to decide.
void rollout(const PathSpec& path, const PolicySpec& policy, const PolicyNetwork& network, uint64_t seed,
             const RolloutPlan& plan, const RolloutRecord& record);

}  // namespace ccgym
