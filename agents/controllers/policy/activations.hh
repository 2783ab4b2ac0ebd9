// Sigmoid and tanh for float32, written so that a loop over them vectorises and has the same bits everywhere.
#pragma once

#include <bit>
#include <cstdint>

namespace ccgym {

// e^x - 1 to about 2 units in the last place, for |x| <= 40: with x = n ln 2 + r, |r| <= ln 2 / 2,
// e^x - 1 = 2^n (e^r - 1) + (2^n - 1), the first factor by its Taylor series (remainder < 1e-8 of r).
inline float exp_minus_one(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;  // exact in 9 bits, so that n times it is exact
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRoundToInteger = 12582912.0f;  // 1.5 * 2^23: adding it drops the fraction
  const float shifted = x * kLog2E + kRoundToInteger;
  const float n = shifted - kRoundToInteger;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  const float tail = 1.f / 24 + r * (1.f / 120 + r * (1.f / 720 + r * (1.f / 5040)));
  const float series = r + r * r * (0.5f + r * (1.f / 6 + r * tail));
  const auto exponent = static_cast<int32_t>(n) + 127;
  const float power = std::bit_cast<float>(exponent << 23);
  return power * series + (power - 1);
}

// By value: std::clamp's references keep the compiler from vectorising.
inline float clip(float x, float limit) {
  const float above = x < -limit ? -limit : x;
  return above > limit ? limit : above;
}

// Beyond these arguments the float32 result is 0, 1 or -1 to within 2^-24.
inline float sigmoid(float x) { return 1 / (2 + exp_minus_one(clip(-x, 40))); }

inline float hyperbolic_tangent(float x) {
  const float e = exp_minus_one(clip(2 * x, 20));
  return e / (e + 2);
}

}  // namespace ccgym
