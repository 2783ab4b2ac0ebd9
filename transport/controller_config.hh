// The properties of a flow with which its controller is made.
#pragma once

#include <cstdint>

#include "transport/units.hh"

namespace ccgym {

struct ControllerConfig {
  int64_t packet_bytes{1436};  // UDP payload of one data packet: the unit of a window in packets
  uint64_t seed{0};            // of random numbers, if the scheme uses any
  Time started_at{};           // start of the flow, by a clock that all flows share
};

}  // namespace ccgym
