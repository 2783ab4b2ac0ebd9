// The internet checksum (RFC 1071), computed in the host's byte order: the result is the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ccgym::tunnel {

// Adds bytes as 16-bit words to a sum over an even number of bytes; up to 4 GB.
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

inline uint16_t fold(uint64_t sum) {
  while (sum > UINT16_MAX) sum = (sum & UINT16_MAX) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

// The checksum: makes the words sum up to zero; 0 for words that contain it already.
inline uint16_t checksum(std::span<const std::byte> bytes, uint64_t sum = 0) {
  return static_cast<uint16_t>(~fold(add_words(bytes, sum)));
}

}  // namespace ccgym::tunnel
