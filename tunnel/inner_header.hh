// An inner IPv4 header without the fields that both ends know: addresses, total length and header checksum.
// The 12 bytes saved make room for most of the MAC, so that a packet of 1464 bytes still fits a path of 1500.
#pragma once

#include <cstddef>
#include <span>

#include "tunnel/private_addresses.hh"

namespace ccgym::tunnel {

inline constexpr std::size_t kIpHeaderBytes = 20;
inline constexpr std::size_t kElidedHeaderBytes = 8;

// Whether the receiver can restore the header exactly, if `packet` is one whole IPv4 packet from
// `sender.local` to `sender.peer`.
bool can_elide(std::span<const std::byte> packet, const PrivateAddresses& sender);

// Writes the packet with its header shortened to `out`; returns the number of bytes.
std::size_t elide(std::span<const std::byte> packet, std::span<std::byte> out);

// The inverse: the packet, restored in `out`; empty if the header contradicts the length.
std::span<const std::byte> restore(std::span<const std::byte> elided, const PrivateAddresses& sender,
                                   std::span<std::byte> out);

}  // namespace ccgym::tunnel
