#include "agents/learning/lstm_pass.hh"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ccgym {
namespace {

constexpr LstmSizes kSizes{.flows = 3, .steps = 4, .inputs = 5, .hidden = 2};

struct Network {
  std::vector<float> weight_ih = std::vector<float>(4 * kSizes.hidden * kSizes.inputs);
  std::vector<float> weight_hh = std::vector<float>(4 * kSizes.hidden * kSizes.hidden);
  std::vector<float> bias_ih = std::vector<float>(4 * kSizes.hidden);
  std::vector<float> bias_hh = std::vector<float>(4 * kSizes.hidden);
};

class LstmPassTest : public testing::Test {
 protected:
  LstmPassTest() {
    for (std::vector<float>* values : {&network_.weight_ih, &network_.weight_hh, &network_.bias_ih,
                                       &network_.bias_hh, &observations_, &hidden_, &cell_, &by_outputs_})
      for (float& value : *values) value = uniform_(random_);
  }

  [[nodiscard]] LstmPass run() const {
    return {kSizes,
            {network_.weight_ih, network_.weight_hh, network_.bias_ih, network_.bias_hh},
            observations_,
            hidden_,
            cell_};
  }
  // Linear in the outputs, so that its gradient by them is `by_outputs_`.
  [[nodiscard]] double loss() const {
    double sum = 0;
    const LstmPass pass = run();
    for (std::size_t i = 0; i < by_outputs_.size(); ++i)
      sum += static_cast<double>(pass.outputs()[i]) * static_cast<double>(by_outputs_[i]);
    return sum;
  }
  void expect_differences(std::vector<float>& parameters, const std::vector<float>& gradient) {
    ASSERT_EQ(parameters.size(), gradient.size());
    constexpr float kStep = 1e-2F;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const float value = parameters[i];
      parameters[i] = value + kStep;
      const double above = loss();
      parameters[i] = value - kStep;
      const double below = loss();
      parameters[i] = value;
      EXPECT_NEAR(gradient[i], (above - below) / (2 * static_cast<double>(kStep)), 2e-3) << i;
    }
  }

  Network network_{};
  std::vector<float> observations_ = std::vector<float>(kSizes.flows * kSizes.steps * kSizes.inputs);
  std::vector<float> hidden_ = std::vector<float>(kSizes.flows * kSizes.hidden);
  std::vector<float> cell_ = std::vector<float>(kSizes.flows * kSizes.hidden);
  std::vector<float> by_outputs_ = std::vector<float>(kSizes.flows * kSizes.steps * kSizes.hidden);

 private:
  std::mt19937 random_{3};
  std::uniform_real_distribution<float> uniform_{-1, 1};
};

TEST_F(LstmPassTest, ItsGradientIsThatOfDifferences) {
  const LstmGradient gradient = run().gradient(by_outputs_);
  expect_differences(network_.weight_ih, gradient.weight_ih);
  expect_differences(network_.weight_hh, gradient.weight_hh);
  expect_differences(network_.bias_ih, gradient.bias);
  expect_differences(network_.bias_hh, gradient.bias);
}

TEST_F(LstmPassTest, FlowsDoNotMeet) {
  const std::vector<float> before = run().outputs();
  observations_.back() += 1;  // of the last flow's last step
  std::vector<float> after = run().outputs();
  EXPECT_NE(before, after);
  std::copy_n(before.end() - kSizes.hidden, kSizes.hidden, after.end() - kSizes.hidden);
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace ccgym
