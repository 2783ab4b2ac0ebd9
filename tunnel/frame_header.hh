// The header before every frame of an offloading TUN device: virtio_net_hdr, whose own header file is no C++.
#pragma once

#include <cstdint>

namespace ccgym::tunnel {

struct FrameHeader {
  static constexpr uint8_t kNeedsChecksum = 1;  // flags: from csum_start on, to be put csum_offset behind it
  static constexpr uint8_t kWhole = 0;          // gso_type
  static constexpr uint8_t kTcp4 = 1;
  static constexpr uint8_t kEcn = 0x80;  // a bit of gso_type

  uint8_t flags{};
  uint8_t gso_type{};
  uint16_t hdr_len{};
  uint16_t gso_size{};
  uint16_t csum_start{};
  uint16_t csum_offset{};
};
static_assert(sizeof(FrameHeader) == 10);

}  // namespace ccgym::tunnel
