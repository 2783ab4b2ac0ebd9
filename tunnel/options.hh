// The command line of ccgym-tunnel.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deploy/endpoint/address.hh"
#include "tunnel/compatible_protocol.hh"
#include "tunnel/private_addresses.hh"

namespace ccgym::tunnel {

struct Options {
  Role role{};
  std::optional<std::string> secret_file{};  // absent: the compatible protocol
  std::optional<Address> bind{};             // absent: all addresses
  uint16_t port{};                           // 0: any free one
  std::optional<std::string> interface{};
  std::optional<std::string> ingress_log{};
  std::optional<std::string> egress_log{};
  int outer_mtu{};                              // of the path, in bytes
  std::optional<PrivateAddresses> addresses{};  // absent: to be chosen by the server
  std::optional<Address> server{};              // present for a client
  bool offload{};
  std::vector<std::string> command{};
};

// Throws InputError. `arguments`: what follows "server" or "client".
Options parse_options(Role role, bool compatible, std::span<char* const> arguments);

}  // namespace ccgym::tunnel
