#include "agents/policy/stack_network.hh"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace ccgym {
namespace {

// Two inputs, one hidden unit, two outputs.
std::vector<LinearWeights> small_layers() {
  return {{.inputs = 2, .outputs = 1, .weight = {0.5F, -1}, .bias = {0.25F}},
          {.inputs = 1, .outputs = 2, .weight = {2, -3}, .bias = {0, 1}}};
}

StackNetwork make_network(const std::vector<LinearWeights>& weights) {
  std::vector<Layer> layers;
  for (const LinearWeights& one : weights) {
    if (!layers.empty()) layers.emplace_back(Activation{"tanh", one.inputs});
    layers.emplace_back(Linear{one});
  }
  return StackNetwork{std::move(layers)};
}

TEST(StackNetwork, PassesItsLayersInTurn) {
  StackNetwork network = make_network(small_layers());
  const double hidden = std::tanh(0.5 * 3 - 1 * 0.5 + 0.25);
  const std::array observation{3.0F, 0.5F};
  for (int again = 0; again < 2; ++again) {  // it has no memory
    const std::span<const float> outputs = network.step(observation);
    ASSERT_EQ(outputs.size(), 2U);
    EXPECT_NEAR(outputs[0], 2 * hidden, 1e-6);
    EXPECT_NEAR(outputs[1], 1 - 3 * hidden, 1e-6);
  }
}

// Outputs are computed in blocks, and the rest singly.
TEST(StackNetwork, IsTheSameForEveryNumberOfOutputs) {
  for (const std::size_t outputs : {1U, 31U, 32U, 33U, 64U, 70U, 128U}) {
    LinearWeights layer{.inputs = 3, .outputs = outputs, .weight = {}, .bias = {}};
    for (std::size_t i = 0; i < 3 * outputs; ++i) layer.weight.push_back(0.01F * static_cast<float>(i % 97));
    for (std::size_t i = 0; i < outputs; ++i) layer.bias.push_back(0.1F * static_cast<float>(i));
    const std::array observation{1.5F, -2.0F, 0.25F};
    StackNetwork network = make_network({layer});
    const std::span<const float> computed = network.step(observation);
    for (std::size_t i = 0; i < outputs; ++i) {
      double sum = layer.bias[i];
      for (std::size_t j = 0; j < 3; ++j)
        sum += static_cast<double>(layer.weight[3 * i + j]) * static_cast<double>(observation[j]);
      EXPECT_EQ(computed[i], static_cast<float>(sum)) << outputs << " outputs, the one at " << i;
    }
  }
}

TEST(StackNetwork, RefusesLayersAndObservationsThatDoNotFit) {
  std::vector<LinearWeights> layers = small_layers();
  layers[1].inputs = 2;
  EXPECT_THROW(make_network(layers), std::invalid_argument);
  layers = small_layers();
  layers[0].weight.pop_back();
  EXPECT_THROW(make_network(layers), std::invalid_argument);
  EXPECT_THROW(StackNetwork{{}}, std::invalid_argument);
  StackNetwork network = make_network(small_layers());
  EXPECT_THROW(network.step(std::vector<float>(3)), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
