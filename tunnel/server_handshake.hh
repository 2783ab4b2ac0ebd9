// The server's side of the handshake: lets in one client that knows the secret, and only one.
#pragma once

#include <optional>
#include <span>

#include "tunnel/handshake.hh"

namespace ccgym::tunnel {

class ServerHandshake {
 public:
  ServerHandshake(const Key& secret, const PrivateAddresses& server);

  // What to send back; nullopt for what is no handshake, or no client's. `mtu`: inside, to be told.
  std::optional<HandshakeBytes> answer(std::span<const std::byte> datagram, int mtu);

  // Once a client has been let in.
  [[nodiscard]] std::optional<SessionKeys> session_keys() const;

 private:
  [[nodiscard]] HandshakeMessage challenge_for(const HandshakeMessage& asked, int mtu) const;
  [[nodiscard]] bool is_someone_else(const HandshakeMessage& asked) const {
    return admitted_ && *admitted_ != asked.client_nonce;
  }

  Key secret_;
  HandshakeKey key_;
  PrivateAddresses addresses_;
  Nonce nonce_{random_nonce()};
  std::optional<Nonce> admitted_{};
};

}  // namespace ccgym::tunnel
