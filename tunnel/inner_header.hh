// Shortens the header of an inner IPv4 packet by the fields that the receiver can restore: addresses, total
// length and header checksum. The 12 bytes saved make room for most of the MAC, so that a packet of 1464
// bytes fits into a path MTU of 1500.
#pragma once

#include <cstddef>
#include <span>

#include "tunnel/private_addresses.hh"

namespace ccgym::tunnel {

inline constexpr std::size_t kIpHeaderBytes = 20;
inline constexpr std::size_t kElidedHeaderBytes = 8;

// Whether the receiver can restore the header exactly: `packet` is one whole IPv4 packet from `sender.local`
// to `sender.peer` with a correct checksum.
bool can_elide(std::span<const std::byte> packet, const PrivateAddresses& sender);

// Writes the packet with its header shortened to `out`; returns the number of bytes.
std::size_t elide(std::span<const std::byte> packet, std::span<std::byte> out);

// The inverse: restores the packet in `out` and returns it. Empty if `elided` is too short for its header.
std::span<const std::byte> restore(std::span<const std::byte> elided, const PrivateAddresses& sender,
                                   std::span<std::byte> out);

}  // namespace ccgym::tunnel
