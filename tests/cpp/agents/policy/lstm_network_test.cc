#include "agents/policy/lstm_network.hh"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <stdexcept>

namespace ccgym {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

LstmWeights zero_weights(std::size_t inputs, std::size_t hidden, std::size_t outputs) {
  return {.inputs = inputs,
          .hidden = hidden,
          .outputs = outputs,
          .weight_ih = std::vector<float>(4 * hidden * inputs),
          .weight_hh = std::vector<float>(4 * hidden * hidden),
          .bias_ih = std::vector<float>(4 * hidden),
          .bias_hh = std::vector<float>(4 * hidden),
          .head_weight = std::vector<float>(outputs * hidden),
          .head_bias = std::vector<float>(outputs)};
}

LstmWeights random_weights(std::size_t inputs, std::size_t hidden, std::size_t outputs) {
  std::mt19937 random{7};
  std::normal_distribution<float> normal{0, 0.4F};
  LstmWeights weights = zero_weights(inputs, hidden, outputs);
  for (auto* tensor : {&weights.weight_ih, &weights.weight_hh, &weights.bias_ih, &weights.bias_hh,
                       &weights.head_weight, &weights.head_bias}) {
    for (float& value : *tensor) value = normal(random);
  }
  return weights;
}

// torch.nn.LSTM's equations, written as they stand in its documentation.
class ReferenceNetwork {
 public:
  explicit ReferenceNetwork(LstmWeights weights)
      : weights_{std::move(weights)}, state_(weights_.hidden), cell_(weights_.hidden) {}

  std::vector<double> step(std::span<const float> observation) {
    std::vector<double> next(weights_.hidden);
    for (std::size_t unit = 0; unit < weights_.hidden; ++unit) {
      const double i = logistic(gate(0, unit, observation));
      const double f = logistic(gate(1, unit, observation));
      const double g = std::tanh(gate(2, unit, observation));
      const double o = logistic(gate(3, unit, observation));
      cell_[unit] = f * cell_[unit] + i * g;
      next[unit] = o * std::tanh(cell_[unit]);
    }
    state_ = next;
    return head();
  }

 private:
  [[nodiscard]] double gate(std::size_t kind, std::size_t unit, std::span<const float> observation) const {
    const std::size_t row = kind * weights_.hidden + unit;
    double sum = static_cast<double>(weights_.bias_ih[row]) + weights_.bias_hh[row];
    for (std::size_t i = 0; i < weights_.inputs; ++i) {
      sum += static_cast<double>(weights_.weight_ih[row * weights_.inputs + i]) * observation[i];
    }
    for (std::size_t i = 0; i < weights_.hidden; ++i) {
      sum += weights_.weight_hh[row * weights_.hidden + i] * state_[i];
    }
    return sum;
  }

  [[nodiscard]] std::vector<double> head() const {
    std::vector<double> outputs(weights_.head_bias.begin(), weights_.head_bias.end());
    for (std::size_t i = 0; i < weights_.head_weight.size(); ++i) {
      outputs[i / weights_.hidden] += weights_.head_weight[i] * state_[i % weights_.hidden];
    }
    return outputs;
  }

  LstmWeights weights_;
  std::vector<double> state_;
  std::vector<double> cell_;
};

// One unit, no weights from the input: with biases 1, 2, 3, 4 of the gates i, f, g, o,
// c1 = s(1) tanh(3), c2 = s(2) c1 + s(1) tanh(3), output = 2 s(4) tanh(c) + 0.5.
TEST(LstmNetwork, FollowsTheEquationsOfAnLstmWithOneUnit) {
  LstmWeights weights = zero_weights(1, 1, 1);
  weights.bias_ih = {1, 2, 3, 4};
  weights.head_weight = {2};
  weights.head_bias = {0.5};
  LstmNetwork network{weights};
  const double first_cell = logistic(1) * std::tanh(3);
  const double second_cell = logistic(2) * first_cell + first_cell;
  const std::array observation{7.0F};
  EXPECT_NEAR(network.step(observation)[0], 2 * logistic(4) * std::tanh(first_cell) + 0.5, 1e-6);
  EXPECT_NEAR(network.step(observation)[0], 2 * logistic(4) * std::tanh(second_cell) + 0.5, 1e-6);
}

class LstmNetworkSizes : public testing::TestWithParam<std::array<std::size_t, 3>> {};

TEST_P(LstmNetworkSizes, AgreesWithThePlainEquationsOverAThousandSteps) {
  const auto [inputs, hidden, outputs] = GetParam();
  const LstmWeights weights = random_weights(inputs, hidden, outputs);
  LstmNetwork network{weights};
  ReferenceNetwork reference{weights};
  std::mt19937 random{3};
  std::uniform_real_distribution<float> uniform{-1, 2};
  std::vector<float> observation(inputs);
  for (int step = 0; step < 1000; ++step) {
    for (float& entry : observation) entry = uniform(random);
    const std::vector<double> right = reference.step(observation);
    const std::span<const float> ours = network.step(observation);
    ASSERT_EQ(ours.size(), outputs);
    for (std::size_t i = 0; i < outputs; ++i) ASSERT_NEAR(ours[i], right[i], 1e-6) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LstmNetworkSizes,
                         testing::Values(std::array<std::size_t, 3>{9, 32, 5},
                                         std::array<std::size_t, 3>{16, 48, 1},
                                         std::array<std::size_t, 3>{1, 1, 1},
                                         std::array<std::size_t, 3>{3, 7, 2}));

TEST(LstmNetwork, StartsAnewAfterAReset) {
  LstmNetwork network{random_weights(9, 32, 5)};
  const std::vector<float> observation(9, 0.3F);
  const std::span<const float> outputs = network.step(observation);
  const std::vector<float> first(outputs.begin(), outputs.end());
  network.step(observation);
  network.reset();
  EXPECT_TRUE(std::ranges::equal(network.step(observation), first));
}

TEST(LstmNetwork, RefusesWeightsOfOtherShapesNamingThem) {
  LstmWeights weights = zero_weights(9, 32, 5);
  weights.weight_hh.pop_back();
  try {
    LstmNetwork{weights};
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "policy network: weight_hh has 4095 entries, should have 4096");
  }
}

TEST(LstmNetwork, RefusesAnObservationOfAnotherSize) {
  LstmNetwork network{zero_weights(9, 32, 5)};
  EXPECT_THROW(network.step(std::vector<float>(8)), std::invalid_argument);
  EXPECT_THROW((LstmNetwork{zero_weights(9, 0, 5)}), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
