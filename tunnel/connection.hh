// Connects the two ends, over a socket that is already bound.
#pragma once

#include <memory>
#include <optional>

#include "deploy/endpoint/address.hh"
#include "deploy/endpoint/datagram_batch.hh"
#include "deploy/endpoint/file_descriptor.hh"
#include "deploy/endpoint/wait.hh"
#include "tunnel/inside.hh"
#include "tunnel/protocol.hh"
#include "tunnel/secret.hh"

namespace ccgym::tunnel {

struct Connection {
  std::unique_ptr<Protocol> protocol{};
  Origin peer{};
  Settings settings{};
};

// UDP and IP headers: 28 bytes, or 48 over IPv6.
std::size_t outer_header_bytes(const Origin& peer);

// The MTU of the TUN device, for a path with the MTU `outer_mtu`; both in bytes.
int inner_mtu(int outer_mtu, std::size_t outer_headers);

struct AuthenticatedServer {
  Key secret{};
  PrivateAddresses addresses{};
  int outer_mtu{};
};
struct AuthenticatedClient {
  Key secret{};
  Address server;
};
struct CompatibleServer {
  PrivateAddresses addresses{};
  int outer_mtu{};
};
struct CompatibleClient {
  Address server;
  PrivateAddresses addresses{};
  int outer_mtu{};
};

// A server waits without limit. A client throws std::runtime_error, which says what may be wrong, if it gets
// no answer for 5 seconds. Returns nullopt if a stop signal comes first. The compatible ones connect() the
// socket, which then receives only from that peer.
std::optional<Connection> connect(const FileDescriptor& socket, const AuthenticatedServer& server,
                                  StopSignals& stop);
std::optional<Connection> connect(const FileDescriptor& socket, const AuthenticatedClient& client,
                                  StopSignals& stop);
std::optional<Connection> connect(const FileDescriptor& socket, const CompatibleServer& server,
                                  StopSignals& stop);
std::optional<Connection> connect(const FileDescriptor& socket, const CompatibleClient& client,
                                  StopSignals& stop);

}  // namespace ccgym::tunnel
