// One path of the gym's batch: flows that learn, among flows that follow a scheme.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "agents/policy/policy.hh"
#include "envs/twin/flow.hh"
#include "envs/twin/path.hh"

namespace ccgym {

std::size_t count_learners(std::span<const FlowSpec> flows);  // those without a scheme

class GymPath {
 public:
  GymPath() = default;
  GymPath(const GymPath&) = default;
  GymPath& operator=(const GymPath&) = delete;
  virtual ~GymPath() = default;

  [[nodiscard]] virtual std::size_t learners() const = 0;
  [[nodiscard]] virtual std::size_t observation_size() const = 0;

  // A copy of the state of all its flows.
  [[nodiscard]] virtual std::unique_ptr<GymPath> clone() const = 0;

  // Runs until at least one learner decides, or all of them are gone. Learners on one path decide at the same
  // instants; one that has not begun, has had no ACK or is gone skips the instant.
  virtual void run_to_decisions() = 0;
  [[nodiscard]] virtual FlowState state(std::size_t learner) const = 0;  // `paused`: it decides now
  [[nodiscard]] virtual double now_ms() const = 0;                       // since the path was made
  virtual void act(std::size_t learner, Act action) = 0;                 // only of a learner that decides now
  virtual void set_cwnd(std::size_t learner, double cwnd_packets) = 0;
  [[nodiscard]] virtual double cwnd_packets(std::size_t learner) const = 0;
  virtual void observe(std::size_t learner, std::span<float> row) const = 0;
  virtual void measure(std::size_t learner, std::span<double> row) = 0;  // columns: kTelemetry
};

// Throws as make_controller does for an unknown scheme.
std::unique_ptr<GymPath> make_gym_path(const PathSpec& path, const PolicySpec& policy, uint64_t seed);

}  // namespace ccgym
