// The addresses of the two ends inside the tunnel.
#pragma once

#include <netinet/in.h>

#include <string>

namespace ccgym::tunnel {

struct PrivateAddresses {
  in_addr local{};
  in_addr peer{};

  [[nodiscard]] PrivateAddresses swapped() const { return {peer, local}; }
};

std::string to_string(in_addr address);

// Throws InputError for anything but an IPv4 address that a host can have.
in_addr parse_private_address(const std::string& text);

// The first two of 100.64.0.1 ... 100.64.0.254 that are neither addresses of this machine's interfaces nor
// routed by any route but the default one. Throws InputError if fewer than two are left.
PrivateAddresses unused_addresses();

// Throws InputError if one is the address of an interface of this machine, or both are equal.
void check_unused(const PrivateAddresses& addresses);

}  // namespace ccgym::tunnel
