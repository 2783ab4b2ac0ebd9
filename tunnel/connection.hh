// How the two ends find each other, over a socket that is bound already.
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

// What is left of the path's MTU inside.
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

// Servers wait for ever, clients some seconds: then they throw std::runtime_error, saying what may be
// wrong. nullopt: a stop signal came first. The compatible ones connect the socket: it hears one peer.
std::optional<Connection> connect(const FileDescriptor& socket, const AuthenticatedServer& server,
                                  StopSignals& stop);
std::optional<Connection> connect(const FileDescriptor& socket, const AuthenticatedClient& client,
                                  StopSignals& stop);
std::optional<Connection> connect(const FileDescriptor& socket, const CompatibleServer& server,
                                  StopSignals& stop);
std::optional<Connection> connect(const FileDescriptor& socket, const CompatibleClient& client,
                                  StopSignals& stop);

}  // namespace ccgym::tunnel
