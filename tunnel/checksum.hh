// The internet checksum (RFC 1071), computed in the host's byte order, to be stored as it is: the sum does
// not depend on the byte order (section 2 (B)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ccgym::tunnel {

// Adds up to 4 GB of bytes, as 16-bit words, to `sum`, which must cover an even number of bytes. Returns the
// sum before folding.
inline uint64_t add_words(std::span<const std::byte> bytes, uint64_t sum) {
  std::size_t at = 0;
  for (; at + sizeof(uint32_t) <= bytes.size(); at += sizeof(uint32_t)) {
    uint32_t words;
    std::memcpy(&words, &bytes[at], sizeof words);
    sum += words;
  }
  uint32_t last = 0;
  if (at < bytes.size()) std::memcpy(&last, &bytes[at], bytes.size() - at);
  return sum + last;
}

// Adds the carries until 16 bits are left.
inline uint16_t fold(uint64_t sum) {
  while (sum > UINT16_MAX) sum = (sum & UINT16_MAX) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

// The checksum of `bytes` after `sum`; 0 if they contain a correct checksum.
inline uint16_t checksum(std::span<const std::byte> bytes, uint64_t sum = 0) {
  return static_cast<uint16_t>(~fold(add_words(bytes, sum)));
}

}  // namespace ccgym::tunnel
