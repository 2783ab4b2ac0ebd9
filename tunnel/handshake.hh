// The datagrams of the handshake between the two ends of an authenticated tunnel. All are 64 bytes long, so
// that no answer is longer than what it answers:
//
//   offset 0  magic "ccgt" | 4 version | 5 type | 6 client's nonce (16) | 22 server's nonce (16)
//          38 client's private address (4) | 42 server's (4) | 46 MTU inside (2) | 48 MAC (16)
//
//   hello      client: its nonce
//   challenge  server: both nonces, the addresses and the MTU
//   confirm    client: both nonces; proves that the hello is not a replay of an old one
//   welcome    server: the session has begun; also the answer to every repeated confirm
//   busy, wrong_secret   server: the reason of a refusal; a challenge of another version is one as well
//
// The MAC is keyed BLAKE2b over the 48 bytes before it, with a key derived from the secret. A refusal can be
// sent without knowing the secret, but only by somebody who has seen the client's nonce.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tunnel/secret.hh"

namespace ccgym::tunnel {

inline constexpr uint8_t kVersion = 1;
inline constexpr std::size_t kHandshakeBytes = 64;

using Nonce = std::array<std::byte, 16>;
using HandshakeBytes = std::array<std::byte, kHandshakeBytes>;

struct HandshakeMessage {
  enum class Type : uint8_t { hello = 1, challenge, confirm, welcome, busy, wrong_secret };

  uint8_t version{kVersion};
  Type type{};
  Nonce client_nonce{};
  Nonce server_nonce{};
  in_addr client_address{};
  in_addr server_address{};
  uint16_t mtu{};
};

Nonce random_nonce();

// nullopt for anything that is not 64 bytes with the right magic. In a datagram of another version only
// version and client nonce are meaningful; nothing is to be trusted before is_authentic().
std::optional<HandshakeMessage> parse_handshake(std::span<const std::byte> bytes);

// The key of the handshake's MACs, which is derived from the secret.
class HandshakeKey {
 public:
  explicit HandshakeKey(const Key& secret);

  [[nodiscard]] HandshakeBytes serialize(const HandshakeMessage& handshake) const;
  [[nodiscard]] bool is_authentic(std::span<const std::byte> bytes) const;

 private:
  Key key_;
};

// The keys of one session, different in the two directions.
struct SessionKeys {
  Key client_to_server;
  Key server_to_client;
};

SessionKeys derive_session_keys(const Key& secret, const Nonce& client, const Nonce& server);

}  // namespace ccgym::tunnel
