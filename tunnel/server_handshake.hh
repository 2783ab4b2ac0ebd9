// The server's side of the handshake: admits one client that knows the secret, and only one.
#pragma once

#include <optional>
#include <span>

#include "tunnel/handshake.hh"
#include "tunnel/private_addresses.hh"

namespace ccgym::tunnel {

class ServerHandshake {
 public:
  ServerHandshake(const Key& secret, const PrivateAddresses& server);

  // The reply to send; nullopt if `datagram` is no handshake message of a client. `mtu`: that of the TUN
  // device, in bytes, which the reply tells the client.
  std::optional<HandshakeBytes> answer(std::span<const std::byte> datagram, int mtu);

  // Present once a client has been admitted.
  [[nodiscard]] std::optional<SessionKeys> session_keys() const;

 private:
  [[nodiscard]] HandshakeMessage challenge_for(const HandshakeMessage& request, int mtu) const;
  [[nodiscard]] bool is_of_another_client(const HandshakeMessage& request) const {
    return admitted_ && *admitted_ != request.client_nonce;
  }

  Key secret_;
  HandshakeKey key_;
  PrivateAddresses addresses_;
  Nonce nonce_{random_nonce()};
  std::optional<Nonce> admitted_{};  // nonce of the client that was admitted
};

}  // namespace ccgym::tunnel
