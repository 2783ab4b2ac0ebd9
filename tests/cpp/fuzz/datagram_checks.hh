// What must hold of any bytes that arrive as a datagram. A fuzzer looks for some of which it does not; the
// tests replay what it found interesting.
#pragma once

#include <cstddef>
#include <span>

namespace ccgym::fuzz {

// At either end of a tunnel, in either protocol.
void check_tunnel_datagram(std::span<const std::byte> bytes);

// At the endpoint programs.
void check_endpoint_datagram(std::span<const std::byte> bytes);

}  // namespace ccgym::fuzz
