#include "agents/controllers/policy/mlp_network.hh"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stdexcept>

namespace ccgym {
namespace {

// Two inputs, one hidden unit, two outputs.
std::vector<LinearWeights> small_layers() {
  return {{.inputs = 2, .outputs = 1, .weight = {0.5F, -1}, .bias = {0.25F}},
          {.inputs = 1, .outputs = 2, .weight = {2, -3}, .bias = {0, 1}}};
}

TEST(MlpNetwork, HasATanhBetweenItsLayersAndNoneAfterTheLast) {
  MlpNetwork network{small_layers()};
  const double hidden = std::tanh(0.5 * 3 - 1 * 0.5 + 0.25);
  const std::array observation{3.0F, 0.5F};
  for (int again = 0; again < 2; ++again) {  // it has no memory
    const std::span<const float> outputs = network.step(observation);
    ASSERT_EQ(outputs.size(), 2U);
    EXPECT_NEAR(outputs[0], 2 * hidden, 1e-6);
    EXPECT_NEAR(outputs[1], 1 - 3 * hidden, 1e-6);
  }
}

TEST(MlpNetwork, RefusesLayersAndObservationsThatDoNotFit) {
  std::vector<LinearWeights> layers = small_layers();
  layers[1].inputs = 2;
  EXPECT_THROW(MlpNetwork{layers}, std::invalid_argument);
  layers = small_layers();
  layers[0].weight.pop_back();
  EXPECT_THROW(MlpNetwork{layers}, std::invalid_argument);
  EXPECT_THROW(MlpNetwork{std::vector<LinearWeights>{}}, std::invalid_argument);
  MlpNetwork network{small_layers()};
  EXPECT_THROW(network.step(std::vector<float>(3)), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
