// The gym's engine: many flows of the `policy` controller, all advanced by one decision in one call.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "agents/controllers/policy/policy.hh"
#include "envs/twin/path.hh"
#include "envs/twin/twin.hh"
#include "envs/twin/worker_pool.hh"

namespace ccgym {

// Columns of the telemetry of one step, in this order; bytes are those of IP packets.
inline constexpr std::array<std::string_view, 10> kTelemetry{
    "time_ms",          // since the flow began, at the decision
    "step_ms",          // length of the step
    "cwnd_packets",     // window before the coming action
    "delivered_bytes",  // acknowledged during the step
    "lost_bytes",       // declared lost during the step, less those that came after all
    "sent_bytes",       // sent during the step
    "mean_rtt_ms",      // of the step's ACKs; 0 when there were none
    "min_rtt_ms",       // of the flow
    "queue_packets",    // waiting at the uplink now
    "max_rtt_ms",       // of the step's ACKs
};

struct BatchSpec {
  PolicySpec policy{};
  std::size_t threads{1};
};

class PathBatch {
 public:
  PathBatch(std::vector<PathSpec> paths, const BatchSpec& spec);

  [[nodiscard]] std::size_t size() const { return flights_.size(); }
  [[nodiscard]] std::size_t observation_size() const;

  void set_path(std::size_t index, PathSpec path);        // from that flow's next reset on
  void set_cwnd(std::size_t index, double cwnd_packets);  // within the policy's limits
  [[nodiscard]] double cwnd_packets(std::size_t index) const;
  [[nodiscard]] double time_ms(std::size_t index) const;      // since that flow began
  void set_preference(std::size_t index, double preference);  // from that flow's next reset on
  [[nodiscard]] const PolicySpec& policy() const { return policy_; }

  // Starts the flows `indices` anew, flies each to its first decision, writes their rows of
  // `observations` (size() x observation_size()).
  void reset(std::span<const int32_t> indices, std::span<const uint64_t> seeds,
             std::span<float> observations);

  // Applies `actions`, flies every flow to its next decision, writes `observations` and `telemetry`
  // (size() x kTelemetry.size()). Throws std::logic_error for a flow that was never reset.
  void step(std::span<const float> actions, std::span<float> observations, std::span<double> telemetry);

 private:
  class GymFlow;

  PolicySpec policy_;
  std::vector<PathSpec> paths_;
  std::vector<double> preferences_;
  std::vector<std::unique_ptr<GymFlow>> flights_;
  WorkerPool workers_;

 public:
  PathBatch(const PathBatch&) = delete;
  PathBatch& operator=(const PathBatch&) = delete;
  ~PathBatch();
};

}  // namespace ccgym
