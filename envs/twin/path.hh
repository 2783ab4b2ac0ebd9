// The network between senders and their receivers, as an emulator spec describes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "envs/twin/queues/queue_spec.hh"
#include "envs/twin/schedule.hh"
#include "envs/twin/step_function.hh"
#include "envs/twin/timing.hh"
#include "transport/traffic.hh"

namespace ccgym {

// mm-onoff: passes packets while on, drops them while off; begins on, sojourns are exponential.
struct OnOffSpec {
  double mean_on_ms{0};  // 0: always on
  double mean_off_ms{0};
};

struct LinkSpec {
  std::shared_ptr<const Schedule> schedule;
  QueueSpec queue{};
  double loss{0};  // of packets, independent
  OnOffSpec onoff{};
};

enum class Element { delay, onoff, loss, link };

// The order of mahimahi's shells, outermost first, with the sender innermost: data packets meet the last
// element first, ACKs the first one.
using Nesting = std::array<Element, 4>;
inline constexpr Nesting kDefaultNesting{Element::delay, Element::onoff, Element::loss, Element::link};

// By names, each of the four once; throws std::invalid_argument otherwise.
Nesting make_nesting(std::span<const std::string> names);

enum class CrossTrafficKind { constant, poisson, onoff };

// Cross traffic: datagrams that share the uplink's queue with the flows' data.
struct CrossTraffic {
  CrossTrafficKind kind{CrossTrafficKind::constant};
  double rate_mbps{0};      // of IP packets; while on
  double mean_on_ms{0};     // onoff: exponential sojourns, evenly spaced packets while on
  double mean_off_ms{0};    // onoff
  int32_t packet_bytes{0};  // of IP
  double start_ms{0};
  double stop_ms{0};  // infinity: never
  uint64_t seed{0};
};

// Throws std::invalid_argument for a mean below a millisecond, with which time would not advance.
void check_sojourns(double mean_on_ms, double mean_off_ms);

// By name; throws std::invalid_argument for an unknown one.
CrossTrafficKind cross_traffic_kind(std::string_view name);

// One of several flows that share a path.
struct FlowSpec {
  std::string scheme{};  // empty: the one given to `simulate`; in the gym, a flow that learns
  double start_s{0};
  double stop_s{std::numeric_limits<double>::infinity()};
  double extra_delay_ms{0};  // one way, each direction, of this flow alone
  TrafficSpec traffic{};     // by default endless
};

// A path; by default mm-delay [mm-onoff] [mm-loss] mm-link.
struct PathSpec {
  double delay_ms{0};           // one way, each direction; whole in mahimahi's timing
  LinkSpec uplink;              // data
  LinkSpec downlink;            // ACKs
  double stall_probability{0};  // per millisecond, that a stall of the sender's host begins
  double stall_max_ms{0};       // uniform in (0, stall_max_ms]
  Timing timing{Timing::mahimahi};
  Nesting nesting{kDefaultNesting};
  std::shared_ptr<const StepFunction> varying_delay_ms{};  // instead of `delay_ms`
  std::vector<CrossTraffic> cross_traffic{};
  std::vector<FlowSpec> flows{};  // empty: one flow, from beginning to end
};

// The same path, entered `begin_ms` after the beginning of its schedules; throws as `Schedule` does.
PathSpec beginning_at(PathSpec path, int64_t begin_ms);

inline constexpr std::size_t kMaxFlows = 10'000;  // on one path

// The flows of a path, one if it names none; throws std::invalid_argument for too many of them.
std::vector<FlowSpec> flows_of(const PathSpec& path);

}  // namespace ccgym
