#include "agents/policy/activations.hh"

#include <gtest/gtest.h>

#include <cmath>

namespace ccgym {
namespace {

TEST(Activations, AgreeWithTheLibraryOverTheirWholeRange) {
  for (double x = -45; x <= 45; x += 1e-3) {
    ASSERT_NEAR(sigmoid(x), 1 / (1 + std::exp(-x)), 1e-11) << x;
    ASSERT_NEAR(hyperbolic_tangent(x), std::tanh(x), 1e-11) << x;
  }
}

TEST(Activations, KeepTheRelativeAccuracyOfSmallArguments) {
  for (double x = 1e-12; x < 1; x *= 3) {
    EXPECT_NEAR(hyperbolic_tangent(x) / std::tanh(x), 1, 1e-10) << x;
    EXPECT_NEAR(hyperbolic_tangent(-x) / std::tanh(-x), 1, 1e-10) << x;
  }
  EXPECT_EQ(hyperbolic_tangent(0), 0);
}

TEST(Activations, SaturateInsteadOfOverflowing) {
  for (const double x : {50.0, 1e3, 1e300, HUGE_VAL}) {
    EXPECT_NEAR(sigmoid(x), 1, 1e-15);
    EXPECT_NEAR(sigmoid(-x), 0, 1e-15);
    EXPECT_NEAR(hyperbolic_tangent(x), 1, 1e-15);
    EXPECT_NEAR(hyperbolic_tangent(-x), -1, 1e-15);
  }
}

}  // namespace
}  // namespace ccgym
