// A scheme's run as an agent of the gym would have made it: what it saw at each decision, what it decided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "envs/twin/path.hh"

namespace ccgym {

inline constexpr float kNoPacingMbps = 1e5F;  // as good as none, and the most that the gym's actions allow

struct StepRecord {
  std::vector<float> observations{};  // rows of RawFeatures::kNames
  std::vector<float> actions{};       // for each of them: window in packets, pacing rate in Mbit/s
};

// Decisions come when the gym asks for them (PolicyController): 10 ms after the last one, or with the first
// ACK after that, or in silence after 1 s; the first one 10 ms after the first ACK. The action is the window
// and the rate that the scheme holds at that moment, and the window in an observation is that of the action
// before. `scheme` runs where a flow of the path names none; it is recorded until there are `decisions`, or
// for `most_seconds`. Throws as `simulate`.
StepRecord record_steps(const PathSpec& path, std::string_view scheme, std::size_t decisions,
                        double most_seconds, uint64_t seed);

}  // namespace ccgym
