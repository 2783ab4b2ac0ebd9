// The server's side of the handshake: admits one client that knows the secret, and only one.
#pragma once

#include <optional>
#include <span>

#include "tunnel/handshake.hh"

namespace ccgym::tunnel {

class ServerHandshake {
 public:
  ServerHandshake(const Key& secret, const PrivateAddresses& server);

  // The answer; nullopt: no handshake datagram of a client. `mtu`: the MTU inside, for the client.
  std::optional<HandshakeBytes> answer(std::span<const std::byte> datagram, int mtu);

  // After a client has been admitted.
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
