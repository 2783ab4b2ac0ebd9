// Many decisions in one call, without Python in between: a network flies the flows of a batch, or an expert
// does, and what every decision was based on is written down.
#pragma once

#include <cstddef>
#include <span>

#include "agents/controllers/policy/policy_network.hh"
#include "envs/twin/path_batch.hh"

namespace ccgym {

// For n flows and T decisions each; arrays are row-major.
struct RolloutPlan {
  std::size_t decisions{};                  // T
  std::size_t sequence_decisions{};         // the network's memory is written down so often
  double ideal_step_ms{};                   // resolution of the ideal windows
  std::span<const double> ideal_packets{};  // n x G: by time since the flow began; the last one stays
  std::span<const float> forced_acts{};     // n x T: acts instead of the network's or the expert's; NaN: none
  bool expert_acts{};                       // else the network does
};

struct RolloutRecord {
  std::span<float> observations{};  // n x T x I
  std::span<float> acts{};          // n x T: what the network would do, whoever did act
  std::span<float> labels{};        // n x T: what the expert would do
  std::span<float> states{};        // n x T / sequence_decisions x S, S numbers of memory
};

// Begins every flow of `batch` anew from `seeds` (n) and flies it for T decisions.
void rollout(PathBatch& batch, const PolicyNetwork& network, std::span<const uint64_t> seeds,
             const RolloutPlan& plan, const RolloutRecord& record);

}  // namespace ccgym
