// UIDs on the wire: only the low bits are sent; the receiver infers the rest from the UIDs it has received.
#pragma once

#include <cstdint>

namespace ccgym::tunnel {

inline constexpr int kWireUidBits = 30;
inline constexpr uint64_t kWireUids = uint64_t{1} << kWireUidBits;

// The UID with these low bits that is nearest to `next`, the expected one (RFC 9000, appendix A.3).
inline uint64_t nearest_uid(uint64_t next, uint64_t low_bits) {
  const uint64_t candidate = (next & ~(kWireUids - 1)) | low_bits;
  if (candidate + kWireUids / 2 <= next) return candidate + kWireUids;
  if (candidate > next + kWireUids / 2 && candidate >= kWireUids) return candidate - kWireUids;
  return candidate;
}

}  // namespace ccgym::tunnel
