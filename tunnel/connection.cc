#include "tunnel/connection.hh"

#include <cstring>
#include <stdexcept>

#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/errors.hh"
#include "tunnel/authenticated_protocol.hh"
#include "tunnel/client_handshake.hh"
#include "tunnel/compatible_protocol.hh"

namespace ccgym::tunnel {

namespace {

constexpr Time kTryInterval = std::chrono::milliseconds{500};
constexpr int kTries = 10;

Origin origin_of(const Address& address) {
  Origin origin{};
  std::memcpy(&origin.peer, address.raw(), address.raw_bytes());
  origin.peer_bytes = address.raw_bytes();
  return origin;
}

void send_to(const FileDescriptor& socket, std::span<const std::byte> datagram, const Origin& peer) {
  SendBatch batch{1, datagram.size()};
  std::ranges::copy(datagram, batch.slot().begin());
  batch.push(datagram.size(), peer);
  batch.flush(socket.number());
}

// Passes received datagrams to `take(datagram, origin)` until it returns true. Returns false if the deadline
// or a stop signal, which sets `stopped`, came first.
template <class Take>
bool receive_until(const FileDescriptor& socket, ReceiveBatch& batch, StopSignals& stop,
                   std::optional<Time> deadline, bool& stopped, Take take) {
  while (!deadline || monotonic_now() < *deadline) {
    const Readiness ready = wait_for(socket.number(), {.readable = true}, stop, deadline);
    if (ready.stop) stopped = true;
    if (ready.stop) return false;
    const std::size_t count = ready.readable ? batch.receive(socket.number()) : 0;
    for (std::size_t i = 0; i < count; ++i)
      if (take(batch.datagram(i), batch.origin(i))) return true;
  }
  return false;
}

void connect_to(const FileDescriptor& socket, const Origin& peer) {
  check_system_call(
      "connect", ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&peer.peer), peer.peer_bytes));
}

using UidBytes = std::array<std::byte, kWireOverheadBytes>;

UidBytes uid_datagram(uint64_t uid) {
  UidBytes bytes{};
  CompatibleProtocol::write_uid(uid, bytes);
  return bytes;
}

[[noreturn]] void report_silence(const Address& server, const char* what_else) {
  throw std::runtime_error{"no answer from " + server.to_string() + " within " +
                           std::to_string(kTries * kTryInterval / std::chrono::seconds{1}) +
                           " s: start the server there first, let its UDP port through" + what_else};
}

// Sends `request()`, at most kTries times without an answer, until `done()`. `on_datagram` returns whether a
// datagram is an answer; the next request follows it at once. Returns `done()`; nullopt after a stop signal.
template <class Request, class OnDatagram, class Done>
std::optional<bool> call(const FileDescriptor& socket, const Origin& server, StopSignals& stop,
                         Request request, OnDatagram on_datagram, Done done) {
  ReceiveBatch batch;
  bool stopped = false;
  for (int attempt = 0; attempt < kTries && !done(); ++attempt) {
    const Time deadline = monotonic_now() + kTryInterval;
    do {
      send_to(socket, request(), server);
    } while (receive_until(socket, batch, stop, deadline, stopped, on_datagram) && !done());
    if (stopped) return std::nullopt;
  }
  return done();
}

}  // namespace

std::size_t outer_header_bytes(const Origin& peer) {
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(peer.peer);
  const bool over_ipv6 = peer.peer.ss_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr);
  return static_cast<std::size_t>(udp_ip_header_bytes(over_ipv6));
}

int inner_mtu(int outer_mtu, std::size_t outer_headers) {
  return outer_mtu - static_cast<int>(outer_headers + kWireOverheadBytes);
}

std::optional<Connection> connect(const FileDescriptor& socket, const AuthenticatedServer& server,
                                  StopSignals& stop) {
  ServerHandshake handshake{server.secret, server.addresses};
  ReceiveBatch batch;
  bool stopped = false;
  Connection connection{.settings = {server.addresses, 0}};
  receive_until(socket, batch, stop, std::nullopt, stopped, [&](auto datagram, const Origin& origin) {
    connection.peer = origin;
    connection.settings.mtu = inner_mtu(server.outer_mtu, outer_header_bytes(origin));
    const auto reply = handshake.answer(datagram, connection.settings.mtu);
    if (reply) send_to(socket, *reply, origin);
    return handshake.session_keys().has_value();
  });
  if (stopped) return std::nullopt;
  const SessionKeys keys = *handshake.session_keys();
  connection.protocol = std::make_unique<AuthenticatedProtocol>(
      AuthenticatedProtocol::Direction{keys.server_to_client, keys.client_to_server}, server.addresses,
      handshake);
  return connection;
}

std::optional<Connection> connect(const FileDescriptor& socket, const AuthenticatedClient& client,
                                  StopSignals& stop) {
  ClientHandshake handshake{client.secret};
  const Origin server = origin_of(client.server);
  const auto answered = call(
      socket, server, stop, [&] { return handshake.request(); },
      [&](auto datagram, const Origin&) { return handshake.on_datagram(datagram); },
      [&] { return handshake.welcome(); });
  if (!answered) return std::nullopt;
  if (!*answered) report_silence(client.server, "");
  const SessionKeys keys = handshake.session_keys();
  auto protocol = std::make_unique<AuthenticatedProtocol>(
      AuthenticatedProtocol::Direction{keys.client_to_server, keys.server_to_client}, handshake.addresses(),
      std::nullopt);
  return Connection{std::move(protocol), server, {handshake.addresses(), handshake.mtu()}};
}

std::optional<Connection> connect(const FileDescriptor& socket, const CompatibleServer& server,
                                  StopSignals& stop) {
  ReceiveBatch batch;
  bool stopped = false;
  Connection connection{.protocol = std::make_unique<CompatibleProtocol>(Role::server)};
  receive_until(socket, batch, stop, std::nullopt, stopped, [&](auto datagram, const Origin& origin) {
    connection.peer = origin;
    return CompatibleProtocol::is_only_uid(CompatibleProtocol::kCall, datagram);
  });
  if (stopped) return std::nullopt;
  connect_to(socket, connection.peer);
  connection.settings = {server.addresses, inner_mtu(server.outer_mtu, outer_header_bytes(connection.peer))};
  send_to(socket, uid_datagram(CompatibleProtocol::kAnswer), connection.peer);
  return connection;
}

std::optional<Connection> connect(const FileDescriptor& socket, const CompatibleClient& client,
                                  StopSignals& stop) {
  const Origin server = origin_of(client.server);
  connect_to(socket, server);
  const UidBytes request = uid_datagram(CompatibleProtocol::kCall);
  bool heard = false;
  const auto answered = call(
      socket, server, stop, [&] { return request; },
      [&](auto datagram, const Origin&) {
        return heard = CompatibleProtocol::is_only_uid(CompatibleProtocol::kAnswer, datagram);
      },
      [&] { return heard; });
  if (!answered) return std::nullopt;
  if (!*answered) report_silence(client.server, ", and end a client it may already have");
  return Connection{std::make_unique<CompatibleProtocol>(Role::client),
                    server,
                    {client.addresses, inner_mtu(client.outer_mtu, outer_header_bytes(server))}};
}

}  // namespace ccgym::tunnel
