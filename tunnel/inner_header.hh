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

// Writes the packet, its header cut short, to `out`; returns how many bytes that is.
std::size_t elide(std::span<const std::byte> packet, std::span<std::byte> out);

// The inverse: the packet, in `out`; empty when the header contradicts the length.
std::span<const std::byte> restore(std::span<const std::byte> elided, const PrivateAddresses& sender,
                                   std::span<std::byte> out);

}  // namespace ccgym::tunnel
