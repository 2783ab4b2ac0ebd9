// SipHash-2-4 (Aumasson and Bernstein, INDOCRYPT 2012): a keyed hash of 64 bits, for short messages.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ccgym {

struct SipKey {
  uint64_t k0{};
  uint64_t k1{};
};

class SipHash {
 public:
  explicit SipHash(const SipKey& key)
      : v0_{key.k0 ^ 0x736f6d6570736575},
        v1_{key.k1 ^ 0x646f72616e646f6d},
        v2_{key.k0 ^ 0x6c7967656e657261},
        v3_{key.k1 ^ 0x7465646279746573} {}

  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      word_ |= std::to_integer<uint64_t>(byte) << (8 * (length_++ % 8));
      if (length_ % 8 == 0) compress();
    }
  }

  // The hash of all bytes added; none may be added afterwards.
  [[nodiscard]] uint64_t finish() {
    word_ |= length_ << 56;
    compress();
    v2_ ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  void compress() {
    v3_ ^= word_;
    round();
    round();
    v0_ ^= word_;
    word_ = 0;
  }

  void round() {
    v0_ += v1_;
    v2_ += v3_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v1_;
    v0_ += v3_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ = std::rotl(v2_, 32);
  }

  uint64_t v0_;
  uint64_t v1_;
  uint64_t v2_;
  uint64_t v3_;
  uint64_t word_{0};    // the bytes that do not fill a word of eight yet
  uint64_t length_{0};  // of all bytes added
};

}  // namespace ccgym
