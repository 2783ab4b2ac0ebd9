// A seeded random number generator with one word of state, which is cheap to copy, save and restore:
// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
#pragma once

#include <cmath>
#include <cstdint>

namespace ccgym {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }  // [0, 1)
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }
  bool chance(double probability) { return probability > 0 && uniform() < probability; }

 private:
  uint64_t state_;
};

// The seed of stream number `stream` of `seed`. Both numbers are mixed, so that the streams of neighbouring
// seeds and numbers are neither equal nor shifted copies of each other.
inline uint64_t stream_seed(uint64_t seed, uint64_t stream) {
  return Random{Random{seed}.bits() ^ Random{~stream}.bits()}.bits();
}

}  // namespace ccgym
