#include "agents/policy/stack_network.hh"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <stdexcept>

namespace ccgym {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// One LSTM layer and a linear head.
struct LstmWeights {
  std::size_t inputs{};
  std::size_t hidden{};
  std::size_t outputs{};
  std::vector<float> weight_ih{};
  std::vector<float> weight_hh{};
  std::vector<float> bias_ih{};
  std::vector<float> bias_hh{};
  std::vector<float> head_weight{};
  std::vector<float> head_bias{};
};

StackNetwork make_network(const LstmWeights& weights) {
  const Lstm lstm{{weights.inputs, weights.hidden, weights.weight_ih, weights.weight_hh, weights.bias_ih,
                   weights.bias_hh}};
  const Linear head{{weights.hidden, weights.outputs, weights.head_weight, weights.head_bias}};
  return StackNetwork{{lstm, head}};
}

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
TEST(LstmLayer, FollowsTheEquationsOfAnLstmWithOneUnit) {
  LstmWeights weights = zero_weights(1, 1, 1);
  weights.bias_ih = {1, 2, 3, 4};
  weights.head_weight = {2};
  weights.head_bias = {0.5};
  StackNetwork network = make_network(weights);
  const double first_cell = logistic(1) * std::tanh(3);
  const double second_cell = logistic(2) * first_cell + first_cell;
  const std::array observation{7.0F};
  EXPECT_NEAR(network.step(observation)[0], 2 * logistic(4) * std::tanh(first_cell) + 0.5, 1e-6);
  EXPECT_NEAR(network.step(observation)[0], 2 * logistic(4) * std::tanh(second_cell) + 0.5, 1e-6);
}

class LstmLayerSizes : public testing::TestWithParam<std::array<std::size_t, 3>> {};

TEST_P(LstmLayerSizes, AgreesWithThePlainEquationsOverAThousandSteps) {
  const auto [inputs, hidden, outputs] = GetParam();
  const LstmWeights weights = random_weights(inputs, hidden, outputs);
  StackNetwork network = make_network(weights);
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

INSTANTIATE_TEST_SUITE_P(Sizes, LstmLayerSizes,
                         testing::Values(std::array<std::size_t, 3>{9, 32, 5},
                                         std::array<std::size_t, 3>{16, 48, 1},
                                         std::array<std::size_t, 3>{1, 1, 1},
                                         std::array<std::size_t, 3>{3, 7, 2}));

TEST(LstmLayer, StartsAnewAfterAReset) {
  StackNetwork network = make_network(random_weights(9, 32, 5));
  const std::vector<float> observation(9, 0.3F);
  const std::span<const float> outputs = network.step(observation);
  const std::vector<float> first(outputs.begin(), outputs.end());
  network.step(observation);
  network.reset();
  EXPECT_TRUE(std::ranges::equal(network.step(observation), first));
}

TEST(LstmLayer, RefusesWeightsOfOtherShapesNamingThem) {
  LstmWeights weights = zero_weights(9, 32, 5);
  weights.weight_hh.pop_back();
  try {
    make_network(weights);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "policy network: weight_hh has 4095 entries, should have 4096");
  }
}

TEST(LstmLayer, RefusesAnObservationOfAnotherSize) {
  StackNetwork network = make_network(zero_weights(9, 32, 5));
  EXPECT_THROW(network.step(std::vector<float>(8)), std::invalid_argument);
  EXPECT_THROW(make_network(zero_weights(9, 0, 5)), std::invalid_argument);
}

// One unit, no weights: with biases 1, 2, 3 of r, z, n from the input and 0.5, 0.25, 4 from the state,
// n = tanh(3 + s(1.5) 4), h1 = (1 - s(2.25)) n, h2 = (1 - s(2.25)) n + s(2.25) h1.
TEST(GruLayer, FollowsTheEquationsOfAGruWithOneUnit) {
  const std::vector<float> none(3);
  StackNetwork network{{Gru{{1, 1, none, none, {1, 2, 3}, {0.5F, 0.25F, 4}}}}};
  const double n = std::tanh(3 + logistic(1.5) * 4);
  const double keep = logistic(2.25);
  const std::array observation{7.0F};
  EXPECT_NEAR(network.step(observation)[0], (1 - keep) * n, 1e-6);
  EXPECT_NEAR(network.step(observation)[0], (1 - keep) * n + keep * (1 - keep) * n, 1e-6);
  EXPECT_EQ(network.state().size(), 1U);
  network.reset();
  EXPECT_NEAR(network.step(observation)[0], (1 - keep) * n, 1e-6);
}

TEST(LayerNormLayer, TakesTheMeanAwayAndDividesByTheSpread) {
  StackNetwork network{{LayerNorm{{{1, 2}, {0, 10}}}}};
  const std::array observation{3.0F, 5.0F};  // mean 4, spread 1
  EXPECT_NEAR(network.step(observation)[0], -1, 1e-4);
  EXPECT_NEAR(network.step(observation)[1], 12, 1e-4);
}

TEST(ActivationLayer, KnowsTheUsualOnes) {
  const std::array<double, 7> right{std::tanh(-2.0),
                                    logistic(-2),
                                    0,
                                    -0.02,
                                    std::exp(-2) - 1,
                                    -2 * logistic(-2),
                                    -2 * 0.5 * std::erfc(std::sqrt(2.0))};
  for (std::size_t i = 0; i < right.size(); ++i) {
    StackNetwork network{{Activation{kActivations[i], 1}}};
    EXPECT_NEAR(network.step(std::array{-2.0F})[0], right[i], 1e-6) << kActivations[i];
  }
  EXPECT_THROW((Activation{"convolution", 1}), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
