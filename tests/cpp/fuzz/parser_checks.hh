// Checks that have to hold for any bytes in a datagram or a file. A fuzzer searches for bytes for which they
// fail; the tests replay its corpus.
#pragma once

#include <cstddef>
#include <span>

namespace ccgym::fuzz {

// A datagram at either end of a tunnel, in either protocol.
void check_tunnel_datagram(std::span<const std::byte> bytes);

// A datagram at the endpoint programs.
void check_endpoint_datagram(std::span<const std::byte> bytes);

// A policy file: it is refused, or it can be run.
void check_policy_file(std::span<const std::byte> bytes);

// The rule table of `remy`.
void check_remy_table(std::span<const std::byte> bytes);

// A log of events: the result does not depend on how the file is cut into pieces.
void check_event_log(std::span<const std::byte> bytes);

// The name of a scheme with its argument, as in copa:0.5.
void check_scheme_name(std::span<const std::byte> bytes);

}  // namespace ccgym::fuzz
