// The header before every frame of an offloading TUN device: the kernel's virtio_net_hdr, whose own header
// file is not valid C++.
#pragma once

#include <cstdint>

namespace ccgym::tunnel {

struct FrameHeader {
  // In flags: the checksum of the bytes from csum_start on is missing, and belongs csum_offset bytes behind
  // that.
  static constexpr uint8_t kNeedsChecksum = 1;
  static constexpr uint8_t kWhole = 0;   // gso_type: one packet
  static constexpr uint8_t kTcp4 = 1;    // gso_type: TCP segments over IPv4
  static constexpr uint8_t kEcn = 0x80;  // a flag in gso_type: TCP with ECN

  uint8_t flags{};
  uint8_t gso_type{};
  uint16_t hdr_len{};   // bytes of all headers
  uint16_t gso_size{};  // bytes of payload per segment
  uint16_t csum_start{};
  uint16_t csum_offset{};
};
static_assert(sizeof(FrameHeader) == 10);

}  // namespace ccgym::tunnel
