// What must hold of any bytes that arrive as a datagram or stand in a file. A fuzzer looks for some of which
// it does not; the tests replay what it found interesting.
#pragma once

#include <cstddef>
#include <span>

namespace ccgym::fuzz {

// At either end of a tunnel, in either protocol.
void check_tunnel_datagram(std::span<const std::byte> bytes);

// At the endpoint programs.
void check_endpoint_datagram(std::span<const std::byte> bytes);

// In a policy file: read, and then run; or refused.
void check_policy_file(std::span<const std::byte> bytes);

// In the rule table of `remy`.
void check_remy_table(std::span<const std::byte> bytes);

// In a log of events: the same, however the file is cut into pieces.
void check_event_log(std::span<const std::byte> bytes);

// As the name of a scheme with its argument, as in copa:0.5.
void check_scheme_name(std::span<const std::byte> bytes);

}  // namespace ccgym::fuzz
