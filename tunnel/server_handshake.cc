#include "tunnel/server_handshake.hh"

namespace ccgym::tunnel {

using Type = HandshakeMessage::Type;

ServerHandshake::ServerHandshake(const Key& secret, const PrivateAddresses& server)
    : secret_(secret), key_(secret), addresses_(server) {}

std::optional<HandshakeBytes> ServerHandshake::answer(std::span<const std::byte> datagram, int mtu) {
  const std::optional<HandshakeMessage> request = parse_handshake(datagram);
  if (!request) return std::nullopt;
  HandshakeMessage reply = challenge_for(*request, mtu);
  if (request->version != kVersion) {
    // Any answer shows our version.
  } else if (request->type != Type::hello && request->type != Type::confirm) {
    return std::nullopt;
  } else if (!key_.is_authentic(datagram)) {
    reply.type = Type::wrong_secret;
  } else if (is_of_another_client(*request)) {
    reply.type = Type::busy;
  } else if (request->type == Type::confirm && request->server_nonce == nonce_) {
    admitted_ = request->client_nonce;
    reply.type = Type::welcome;
  }
  return key_.serialize(reply);
}

HandshakeMessage ServerHandshake::challenge_for(const HandshakeMessage& request, int mtu) const {
  return {.type = Type::challenge,
          .client_nonce = request.client_nonce,
          .server_nonce = nonce_,
          .client_address = addresses_.peer,
          .server_address = addresses_.local,
          .mtu = static_cast<uint16_t>(mtu)};
}

std::optional<SessionKeys> ServerHandshake::session_keys() const {
  if (!admitted_) return std::nullopt;
  return derive_session_keys(secret_, *admitted_, nonce_);
}

}  // namespace ccgym::tunnel
