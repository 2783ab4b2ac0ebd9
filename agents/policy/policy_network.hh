// An exported network, evaluated one decision at a time.
//
// Weights, observations and outputs are float32; in between it computes in float64 (see activations.hh).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace ccgym {

class PolicyNetwork {
 public:
  PolicyNetwork() = default;
  PolicyNetwork(const PolicyNetwork&) = default;
  PolicyNetwork& operator=(const PolicyNetwork&) = default;
  virtual ~PolicyNetwork() = default;

  [[nodiscard]] virtual std::size_t inputs() const = 0;
  [[nodiscard]] virtual std::size_t outputs() const = 0;

  [[nodiscard]] virtual std::unique_ptr<PolicyNetwork> clone() const = 0;
  [[nodiscard]] virtual std::vector<double> state() const { return {}; }  // memory after the last decision

  virtual void reset() {}  // to the state at the start of a flow; nothing to do without memory

  // Outputs of this decision, valid until the next. Throws std::invalid_argument unless the observation
  // has `inputs()` entries.
  virtual std::span<const float> step(std::span<const float> observation) = 0;

 protected:
  void check_observation(std::span<const float> observation) const {
    if (observation.size() == inputs()) return;
    throw std::invalid_argument("policy network: observation has " + std::to_string(observation.size()) +
                                " entries, should have " + std::to_string(inputs()));
  }
};

}  // namespace ccgym
