// A scheme's run as an agent of the gym would have made it: what the scheme saw at each decision and what it
// decided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "envs/twin/path.hh"

namespace ccgym {

inline constexpr float kNoPacingMbps = 1e5F;  // stands for no pacing; the most that the gym's actions allow

struct StepRecord {
  std::vector<float> observations{};  // rows of RawFeatures::kNames
  std::vector<float> actions{};       // for each row: window in packets, pacing rate in Mbit/s
};

// Decisions are at the times of the gym's (PolicyController): 10 ms after the last one, or with the first ACK
// after that, or in silence after 1 s; the first one 10 ms after the first ACK. The action is the window and
// the rate that the scheme has at that moment; the window in an observation is that of the action before.
// `scheme` is for a flow of the path that names none. It is recorded until there are `decisions`, or for
// `most_seconds`. Throws as `simulate`.
StepRecord record_steps(const PathSpec& path, std::string_view scheme, std::size_t decisions,
                        double most_seconds, uint64_t seed);

}  // namespace ccgym
