#include "tunnel/inner_header.hh"

#include <cstdint>
#include <cstring>

#include "tunnel/checksum.hh"

namespace ccgym::tunnel {

namespace {

constexpr std::size_t kLengthAt = 2;
constexpr std::size_t kIdentificationAt = 4;
constexpr std::size_t kChecksumAt = 10;
constexpr std::size_t kSourceAt = 12;
constexpr std::size_t kDestinationAt = 16;

uint16_t read_u16(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<uint16_t>(std::to_integer<unsigned>(bytes[at]) << 8 |
                               std::to_integer<unsigned>(bytes[at + 1]));
}

void write_u16(std::span<std::byte> bytes, std::size_t at, std::size_t value) {
  bytes[at] = static_cast<std::byte>(value >> 8);
  bytes[at + 1] = static_cast<std::byte>(value);
}

// The length of the IPv4 header in bytes; 0 if `packet` does not begin with one that fits its length.
std::size_t header_bytes(std::span<const std::byte> packet) {
  if (packet.size() < kIpHeaderBytes || packet.size() > UINT16_MAX) return 0;
  const auto first = std::to_integer<std::size_t>(packet[0]);
  const std::size_t bytes = (first & 15) * 4;
  return first >> 4 == 4 && bytes >= kIpHeaderBytes && bytes <= packet.size() ? bytes : 0;
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

std::size_t elide(std::span<const std::byte> packet, std::span<std::byte> out) {
  std::memcpy(out.data(), packet.data(), kLengthAt);
  std::memcpy(&out[kLengthAt], &packet[kIdentificationAt], kElidedHeaderBytes - kLengthAt);
  const auto rest = packet.subspan(kIpHeaderBytes);
  if (!rest.empty()) std::memcpy(&out[kElidedHeaderBytes], rest.data(), rest.size());
  return kElidedHeaderBytes + rest.size();
}

std::span<const std::byte> restore(std::span<const std::byte> elided, const PrivateAddresses& sender,
                                   std::span<std::byte> out) {
  if (elided.size() < kElidedHeaderBytes) return {};
  const auto rest = elided.subspan(kElidedHeaderBytes);
  const std::span<std::byte> packet = out.first(kIpHeaderBytes + rest.size());
  std::memcpy(packet.data(), elided.data(), kLengthAt);
  std::memcpy(&packet[kIdentificationAt], &elided[kLengthAt], kElidedHeaderBytes - kLengthAt);
  if (!rest.empty()) std::memcpy(&packet[kIpHeaderBytes], rest.data(), rest.size());
  const std::size_t header = header_bytes(packet);
  if (header == 0) return {};
  write_u16(packet, kLengthAt, packet.size());
  write_u16(packet, kChecksumAt, 0);
  std::memcpy(&packet[kSourceAt], &sender.local, sizeof sender.local);
  std::memcpy(&packet[kDestinationAt], &sender.peer, sizeof sender.peer);
  const uint16_t sum = checksum(packet.first(header));
  std::memcpy(&packet[kChecksumAt], &sum, sizeof sum);
  return packet;
}

}  // namespace ccgym::tunnel
