// A policy without its network: its features, its actions, its step, and the limits of its window.
#pragma once

#include <chrono>

#include "agents/policy/action_sets.hh"
#include "agents/policy/features.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

struct PolicySpec {
  FeatureSet feature_set{FeatureSet::indigo};
  ActionSet actions{ActionSet::indigo};
  Time step{std::chrono::milliseconds{10}};
  double initial_cwnd_packets{static_cast<double>(kInitialWindowPackets)};
  double min_cwnd_packets{2};
  double max_cwnd_packets{100000};
  double preference{0.5};  // from low delay (0) to full throughput (1), if the features contain it
  bool companion{false};   // with log_window only: adjusts the window to other flows on the
                           // bottleneck, see agents/companion/
};

// Throws std::invalid_argument for parts that do not fit together, and for a preference outside 0 to 1.
PolicySpec checked_policy(const PolicySpec& spec);
// The same policy at another preference. Throws std::invalid_argument if it has none.
PolicySpec with_preference(const PolicySpec& spec, double preference);

}  // namespace ccgym
