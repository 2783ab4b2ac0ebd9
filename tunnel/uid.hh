// UIDs on the wire: the low bits only; the receiver knows the rest from what it has heard.
#pragma once

#include <cstdint>

namespace ccgym::tunnel {

inline constexpr int kWireUidBits = 30;
inline constexpr uint64_t kWireUids = uint64_t{1} << kWireUidBits;

// The UID with these low bits that is nearest to `next`, the one expected. RFC 9000, appendix A.3.
inline uint64_t nearest_uid(uint64_t next, uint64_t low_bits) {
  const uint64_t candidate = (next & ~(kWireUids - 1)) | low_bits;
  if (candidate + kWireUids / 2 <= next) return candidate + kWireUids;
  if (candidate > next + kWireUids / 2 && candidate >= kWireUids) return candidate - kWireUids;
  return candidate;
}

}  // namespace ccgym::tunnel
