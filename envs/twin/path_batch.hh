// The gym's engine: many paths of learning flows, all advanced by one decision in one call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "agents/policy/policy.hh"
#include "envs/twin/gym_path.hh"
#include "envs/twin/path.hh"
#include "envs/twin/worker_pool.hh"

namespace ccgym {

struct BatchSpec {
  PolicySpec policy{};
  std::size_t threads{1};
};

// A row of the batch is one learner; the rows of one path are adjacent, in the order of its flows.
class PathBatch {
 public:
  // Flows without a scheme learn. Throws std::invalid_argument for a path without a learner, and as flows_of.
  PathBatch(std::vector<PathSpec> paths, const BatchSpec& spec);

  [[nodiscard]] std::size_t rows() const { return first_rows_.back(); }
  [[nodiscard]] std::size_t paths() const { return paths_.size(); }
  [[nodiscard]] std::size_t observation_size() const { return observation_size_; }
  [[nodiscard]] std::size_t action_width() const { return action_width_; }

  // Takes effect with the path's next reset; the number of its learners must stay the same.
  void set_path(std::size_t path, PathSpec spec);
  void set_cwnd(std::size_t row, double cwnd_packets);  // within the policy's limits
  [[nodiscard]] double cwnd_packets(std::size_t row) const;
  [[nodiscard]] FlowState state(std::size_t row) const;
  [[nodiscard]] double now_ms(std::size_t row) const;  // since the reset of its path

  // Starts the paths `paths` anew, runs each to its first decisions, and writes their rows of `observations`
  // (rows() x observation_size()); zeros for flows that have nothing to decide yet.
  void reset(std::span<const int32_t> paths, std::span<const uint64_t> seeds, std::span<float> observations);

  // Applies the actions (rows() x action_size) of the learners that decide, runs every path to its next
  // decisions, and writes `observations` and `telemetry` (rows() x kTelemetry.size()) of those that decide
  // then. A row that does not decide keeps its observation and gets a telemetry of zeros. Throws
  // std::logic_error for a path that was never reset.
  void step(std::span<const float> actions, std::span<float> observations, std::span<double> telemetry);

  // Saves and restores the state of all flows, in this batch or in one of the same paths and policy. Throws
  // std::invalid_argument for a state of another number of paths.
  using State = std::vector<std::shared_ptr<const GymPath>>;  // null: never reset
  [[nodiscard]] State save() const;
  void restore(const State& state);

 private:
  struct Slot {
    std::size_t path;
    std::size_t learner;
  };
  [[nodiscard]] Slot slot(std::size_t row) const;
  [[nodiscard]] Act act_of(std::size_t row, std::span<const float> actions) const;
  void step_path(std::size_t path, std::span<const float> actions, std::span<float> observations,
                 std::span<double> telemetry);

  PolicySpec policy_;
  std::size_t observation_size_;
  std::size_t action_width_;
  std::vector<PathSpec> paths_;
  std::vector<std::size_t> first_rows_;  // the first row of each path, then the number of rows
  std::vector<std::unique_ptr<GymPath>> gym_paths_;
  WorkerPool workers_;
};

}  // namespace ccgym
