// What a controller is told of its flow.
#pragma once

#include <cstdint>

#include "transport/units.hh"

namespace ccgym {

struct ControllerConfig {
  int64_t packet_bytes{1436};  // UDP payload of one data packet: the unit of a window in packets
  uint64_t seed{0};            // for schemes that draw random numbers
  Time started_at{};           // of the flow, by a clock that all flows share
};

}  // namespace ccgym
