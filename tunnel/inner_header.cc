#include "tunnel/inner_header.hh"

#include <cstdint>
#include <cstring>

namespace ccgym::tunnel {

namespace {

constexpr std::size_t kLengthAt = 2;
constexpr std::size_t kIdentificationAt = 4;
constexpr std::size_t kChecksumAt = 10;
constexpr std::size_t kSourceAt = 12;
constexpr std::size_t kDestinationAt = 16;
constexpr std::size_t kShortAt = kIpHeaderBytes - kElidedHeaderBytes;

uint16_t read_u16(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<uint16_t>(std::to_integer<unsigned>(bytes[at]) << 8 |
                               std::to_integer<unsigned>(bytes[at + 1]));
}

void write_u16(std::span<std::byte> bytes, std::size_t at, std::size_t value) {
  bytes[at] = static_cast<std::byte>(value >> 8);
  bytes[at + 1] = static_cast<std::byte>(value);
}

// 0: not the header of an IPv4 packet of this length.
std::size_t header_bytes(std::span<const std::byte> packet) {
  if (packet.size() < kIpHeaderBytes || packet.size() > UINT16_MAX) return 0;
  const auto first = std::to_integer<std::size_t>(packet[0]);
  const std::size_t bytes = (first & 15) * 4;
  return first >> 4 == 4 && bytes >= kIpHeaderBytes && bytes <= packet.size() ? bytes : 0;
}

// RFC 1071; 0 over a header whose checksum is right.
uint16_t checksum(std::span<const std::byte> header) {
  uint32_t sum = 0;
  for (std::size_t at = 0; at < header.size(); at += 2) sum += read_u16(header, at);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~(sum + (sum >> 16)));
}

bool has(std::span<const std::byte> packet, std::size_t at, in_addr address) {
  return std::memcmp(&packet[at], &address, sizeof address) == 0;
}

}  // namespace

bool can_elide(std::span<const std::byte> packet, const PrivateAddresses& sender) {
  const std::size_t header = header_bytes(packet);
  return header != 0 && read_u16(packet, kLengthAt) == packet.size() &&
         has(packet, kSourceAt, sender.local) && has(packet, kDestinationAt, sender.peer) &&
         checksum(packet.first(header)) == 0 && read_u16(packet, kChecksumAt) != 0xffff;
}

void elide(std::span<std::byte> packet) {
  std::memmove(&packet[kShortAt + 2], &packet[kIdentificationAt], kElidedHeaderBytes - 2);
  std::memmove(&packet[kShortAt], packet.data(), 2);
}

bool restore(std::span<std::byte> packet, const PrivateAddresses& sender) {
  if (packet.size() < kIpHeaderBytes) return false;
  std::memmove(packet.data(), &packet[kShortAt], 2);
  std::memmove(&packet[kIdentificationAt], &packet[kShortAt + 2], kElidedHeaderBytes - 2);
  const std::size_t header = header_bytes(packet);
  if (header == 0) return false;
  write_u16(packet, kLengthAt, packet.size());
  write_u16(packet, kChecksumAt, 0);
  std::memcpy(&packet[kSourceAt], &sender.local, sizeof sender.local);
  std::memcpy(&packet[kDestinationAt], &sender.peer, sizeof sender.peer);
  write_u16(packet, kChecksumAt, checksum(packet.first(header)));
  return true;
}

}  // namespace ccgym::tunnel
