// The set of UIDs that have been received, so that none is accepted twice: a ring of bits, which is cleared
// in blocks (RFC 6479).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace ccgym::tunnel {

class ReplayWindow {
 public:
  // UIDs further behind the highest one are no longer known, and count as received.
  static constexpr uint64_t kReach = 8192 - 64;

  [[nodiscard]] bool heard(uint64_t uid) const {
    if (uid >= next_) return false;
    if (next_ - uid > kReach) return true;
    return (blocks_[block_of(uid)] & bit_of(uid)) != 0;
  }

  // To be called for authentic datagrams only, because a forged UID would move the window.
  void mark(uint64_t uid) {
    if (uid >= next_) advance_to(uid);
    blocks_[block_of(uid)] |= bit_of(uid);
  }

  [[nodiscard]] uint64_t next() const { return next_; }  // one above the highest received

 private:
  static constexpr std::size_t kBlocks = 128;

  static std::size_t block_of(uint64_t uid) { return uid / 64 % kBlocks; }
  static uint64_t bit_of(uint64_t uid) { return uint64_t{1} << uid % 64; }

  void advance_to(uint64_t uid) {
    const uint64_t first_stale = (next_ + 63) / 64;
    const uint64_t stale = uid / 64 >= first_stale ? uid / 64 - first_stale + 1 : 0;
    for (uint64_t i = 0; i < std::min<uint64_t>(stale, kBlocks); ++i) blocks_[(uid / 64 - i) % kBlocks] = 0;
    next_ = uid + 1;
  }

  std::array<uint64_t, kBlocks> blocks_{};
  uint64_t next_{0};
};

}  // namespace ccgym::tunnel
