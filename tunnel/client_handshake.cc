#include "tunnel/client_handshake.hh"

#include <string>

#include "deploy/endpoint/errors.hh"

namespace ccgym::tunnel {

using Type = HandshakeMessage::Type;

HandshakeBytes ClientHandshake::request() const {
  if (!challenge_) return key_.serialize({.type = Type::hello, .client_nonce = nonce_});
  return key_.serialize(
      {.type = Type::confirm, .client_nonce = nonce_, .server_nonce = challenge_->server_nonce});
}

void ClientHandshake::check_accepted(const HandshakeMessage& reply) {
  if (reply.version != kVersion)
    throw InputError{"the server speaks version " + std::to_string(reply.version) + " of the protocol, we " +
                     std::to_string(kVersion) + ": install the same ccgym at both ends"};
  if (reply.type == Type::wrong_secret)
    throw InputError{"the server has another secret: give both ends the same --secret-file"};
  if (reply.type == Type::busy)
    throw InputError{"the server has a client already: start another server, or end that client first"};
}

bool ClientHandshake::on_datagram(std::span<const std::byte> datagram) {
  const std::optional<HandshakeMessage> reply = parse_handshake(datagram);
  if (!reply || reply->client_nonce != nonce_) return false;
  check_accepted(*reply);
  if (!key_.is_authentic(datagram)) return false;
  if (reply->type == Type::challenge && !challenge_) {
    challenge_ = *reply;
    return true;
  }
  const bool answers_confirm = challenge_ && reply->server_nonce == challenge_->server_nonce;
  if (reply->type != Type::welcome || !answers_confirm || welcome_) return false;
  return welcome_ = true;
}

SessionKeys ClientHandshake::session_keys() const {
  return derive_session_keys(secret_, nonce_, challenge_->server_nonce);
}

PrivateAddresses ClientHandshake::addresses() const {
  return {challenge_->client_address, challenge_->server_address};
}

}  // namespace ccgym::tunnel
