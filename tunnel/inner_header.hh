// An inner IPv4 header without what both ends know: addresses, total length and header checksum. These
// 12 bytes less pay for the MAC, so that a packet of 1464 bytes still fits a path of 1500.
#pragma once

#include <cstddef>
#include <span>

#include "tunnel/private_addresses.hh"

namespace ccgym::tunnel {

inline constexpr std::size_t kIpHeaderBytes = 20;
inline constexpr std::size_t kElidedHeaderBytes = 8;

// Whether the receiver can restore the header to the bit, from `packet` being one whole IPv4 packet from
// `sender.local` to `sender.peer`.
bool can_elide(std::span<const std::byte> packet, const PrivateAddresses& sender);

// Writes the short header to the 8 bytes right before what follows the first 20 of the packet.
void elide(std::span<std::byte> packet);

// The inverse: `packet` begins with 12 bytes of anything, then the short header, then the rest.
// False, and nothing is restored, when the header contradicts the length.
bool restore(std::span<std::byte> packet, const PrivateAddresses& sender);

}  // namespace ccgym::tunnel
