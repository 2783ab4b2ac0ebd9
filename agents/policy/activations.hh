// Sigmoid and tanh, written so that a loop over them vectorises and has the same bits on every machine.
//
// In float64, to 1e-11: float32's two units in the last place add up over an episode to more than the
// 1e-5 by which the controller may differ from PyTorch.
#pragma once

#include <bit>
#include <cstdint>

namespace ccgym {

// e^x - 1 for |x| <= 80: with x = n ln 2 + r, |r| <= ln 2 / 2, it is 2^n (e^r - 1) + (2^n - 1), and
// e^r - 1 by its Taylor series, whose remainder is below r^10 / 10! < 1e-11.
inline double exp_minus_one(double x) {
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2 = 0.6931471805599453;
  constexpr double kRoundToInteger = 0x1.8p52;  // after adding it the low bits of the significand are n
  constexpr uint64_t kExponentOfOne = 1023;
  constexpr int kExponentShift = 52;
  const double shifted = x * kLog2E + kRoundToInteger;
  const double r = x - (shifted - kRoundToInteger) * kLn2;
  double series = 1.0 / 362880;
  series = series * r + 1.0 / 40320;
  series = series * r + 1.0 / 5040;
  series = series * r + 1.0 / 720;
  series = series * r + 1.0 / 120;
  series = series * r + 1.0 / 24;
  series = series * r + 1.0 / 6;
  series = series * r + 0.5;
  series = series * r + 1.0;
  const uint64_t exponent = std::bit_cast<uint64_t>(shifted) + kExponentOfOne;
  const auto power = std::bit_cast<double>(exponent << kExponentShift);
  return power * (series * r) + (power - 1);
}

// By value: std::clamp's references keep the compiler from vectorising.
inline double clip(double x, double limit) {
  const double above = x < -limit ? -limit : x;
  return above > limit ? limit : above;
}

// Beyond these arguments the result is 0, 1 or -1 to within 1e-17.
inline double sigmoid(double x) { return 1 / (2 + exp_minus_one(clip(-x, 40))); }

inline double hyperbolic_tangent(double x) {
  const double e = exp_minus_one(clip(2 * x, 40));
  return e / (e + 2);
}

}  // namespace ccgym
