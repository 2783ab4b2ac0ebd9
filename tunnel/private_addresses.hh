// The IPv4 addresses of the two ends inside the tunnel.
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

// Throws InputError for anything but a unicast IPv4 address.
in_addr parse_private_address(const std::string& text);

// The first two of 100.64.0.1 ... 100.64.0.254 that no interface of this machine has, and that only the
// default route covers. Throws InputError if there are fewer than two.
PrivateAddresses unused_addresses();

// Throws InputError if an interface of this machine has one of them, or if both are equal.
void check_unused(const PrivateAddresses& addresses);

}  // namespace ccgym::tunnel
