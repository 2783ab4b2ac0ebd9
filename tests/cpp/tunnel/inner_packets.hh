// IPv4 packets for tests.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "tunnel/private_addresses.hh"

namespace ccgym::tunnel {

inline const PrivateAddresses kClientEnd{parse_private_address("100.64.0.2"),
                                         parse_private_address("100.64.0.1")};
inline const PrivateAddresses kServerEnd = kClientEnd.swapped();

inline void write_u16(std::vector<std::byte>& bytes, std::size_t at, std::size_t value) {
  bytes[at] = static_cast<std::byte>(value >> 8);
  bytes[at + 1] = static_cast<std::byte>(value);
}

// RFC 1071, computed the slow way.
inline void set_checksum(std::vector<std::byte>& packet, std::size_t header_bytes) {
  write_u16(packet, 10, 0);
  uint64_t sum = 0;
  for (std::size_t at = 0; at < header_bytes; ++at)
    sum += std::to_integer<uint64_t>(packet[at]) << (at % 2 == 0 ? 8 : 0);
  while (sum > 0xffff) sum = sum % 0x10000 + sum / 0x10000;
  write_u16(packet, 10, 0xffff - sum);
}

// A valid packet of random content from `sender.local` to `sender.peer`, at least 60 bytes long.
inline std::vector<std::byte> inner_packet(const PrivateAddresses& sender, std::size_t bytes, uint64_t seed,
                                           std::size_t header_bytes = 20) {
  std::mt19937_64 random{seed};
  std::vector<std::byte> packet(bytes);
  for (std::byte& byte : packet) byte = static_cast<std::byte>(random());
  packet[0] = static_cast<std::byte>(0x40 | header_bytes / 4);
  write_u16(packet, 2, bytes);
  std::memcpy(&packet[12], &sender.local, 4);
  std::memcpy(&packet[16], &sender.peer, 4);
  set_checksum(packet, header_bytes);
  return packet;
}

}  // namespace ccgym::tunnel
