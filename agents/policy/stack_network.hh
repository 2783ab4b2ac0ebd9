// A policy's network: a stack of layers, read from the file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "agents/policy/layers.hh"
#include "agents/policy/policy_network.hh"

namespace ccgym {

class StackNetwork final : public PolicyNetwork {
 public:
  // From the observation to the outputs; throws std::invalid_argument when their sizes disagree.
  explicit StackNetwork(std::vector<Layer> layers);

  [[nodiscard]] std::size_t inputs() const override { return values_.front().size(); }
  [[nodiscard]] std::size_t outputs() const override { return outputs_.size(); }
  [[nodiscard]] std::unique_ptr<PolicyNetwork> clone() const override {
    return std::make_unique<StackNetwork>(*this);
  }
  [[nodiscard]] std::vector<double> state() const override;  // of each layer with memory, in their order
  void reset() override;
  std::span<const float> step(std::span<const float> observation) override;

 private:
  std::vector<Layer> layers_;
  std::vector<std::vector<double>> values_{};  // the observation, then what each layer made of it
  std::vector<float> outputs_{};
};

}  // namespace ccgym
