// Cryptographically secure random bits from the system.
#pragma once

#include <sys/random.h>

#include <cstdint>

#include "deploy/endpoint/errors.hh"

namespace ccgym {

inline uint64_t random_bits() {
  uint64_t bits = 0;
  check_system_call("getrandom", static_cast<int>(getrandom(&bits, sizeof bits, 0)));
  return bits;
}

}  // namespace ccgym
