// The network between one sender and its receiver, as an emulator spec describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "envs/twin/schedule.hh"

namespace ccgym {

enum class QueueKind { infinite, droptail };

// mahimahi's limits: on waiting packets only, bytes with the TUN header; 0 is no limit.
struct QueueSpec {
  QueueKind kind{QueueKind::infinite};
  int64_t packets{0};
  int64_t bytes{0};
};

// By mahimahi's name of the queue; throws std::invalid_argument for an unknown one, a negative limit,
// or a dropping queue without a limit.
QueueSpec make_queue(std::string_view kind, int64_t packets, int64_t bytes);

struct LinkSpec {
  std::shared_ptr<const Schedule> schedule;
  QueueSpec queue{};
  double loss{0};  // of packets, independent
};

// mm-delay [mm-loss] mm-link, the sender inside: data meets the uplink's queue, its loss, the delay;
// ACKs meet the delay, the downlink's loss, its queue.
struct PathSpec {
  int64_t delay_ms{0};          // one way, each direction
  LinkSpec uplink;              // data
  LinkSpec downlink;            // ACKs
  double stall_probability{0};  // of the sender's host, per millisecond: it is not scheduled for a while
  double stall_max_ms{0};       // uniform in (0, stall_max_ms]
};

// One of the flows that share a path.
struct FlowSpec {
  std::string scheme;  // as in make_controller
  double start_s{0};
  double stop_s{std::numeric_limits<double>::infinity()};
  int64_t extra_delay_ms{0};  // one way, each direction, on top of the path's
};

inline constexpr std::size_t kMaxFlows = 10'000;  // on one path
inline constexpr double kMaxSeconds = 1e8;        // a time beyond it never comes

// Throws std::invalid_argument for none or too many flows, a start or stop out of order, a negative delay.
void check_flows(std::span<const FlowSpec> flows);

}  // namespace ccgym
