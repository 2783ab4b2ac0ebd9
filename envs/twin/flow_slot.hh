// Makes a flow's slot in the twin from what a spec says of the flow.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "envs/twin/flow.hh"
#include "envs/twin/path.hh"
#include "transport/controller_config.hh"
#include "transport/random.hh"
#include "transport/wire.hh"

namespace ccgym {

inline constexpr double kMaxSeconds = 1e9;  // a later time counts as never

inline Time path_time(double seconds) {
  return seconds < kMaxSeconds ? Time{std::llround(seconds * 1e9)} : Time::max();
}

// Each flow of a path has a seed of its own, and its application another.
inline uint64_t flow_seed(uint64_t path_seed, std::size_t flow) { return stream_seed(path_seed, flow); }

template <class Controller>
FlowSlot<Controller> slot_of(const FlowSpec& flow, Controller& controller, uint64_t seed) {
  return {&controller, path_time(flow.start_s), path_time(flow.stop_s),
          std::llround(flow.extra_delay_ms * static_cast<double>(kNsPerMs)), Traffic{flow.traffic, ~seed}};
}

// `number`: of the flow on its path.
inline ControllerConfig controller_config(const FlowSpec& flow, uint64_t path_seed, std::size_t number) {
  return {.packet_bytes = static_cast<int64_t>(kDataBytes),
          .seed = flow_seed(path_seed, number),
          .started_at = path_time(flow.start_s)};
}

}  // namespace ccgym
