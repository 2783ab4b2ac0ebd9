// The client's side of the handshake.
#pragma once

#include <optional>
#include <span>

#include "tunnel/handshake.hh"
#include "tunnel/private_addresses.hh"

namespace ccgym::tunnel {

class ClientHandshake {
 public:
  explicit ClientHandshake(const Key& secret) : secret_(secret), key_(secret) {}

  // The datagram to send now, and again until the state changes.
  [[nodiscard]] HandshakeBytes request() const;

  // Returns whether the datagram changed the state: false if it is not the server's, or a repetition. Throws
  // InputError, with the reason and the remedy, if the server refuses this client.
  bool on_datagram(std::span<const std::byte> datagram);

  [[nodiscard]] bool welcome() const { return welcome_; }
  // Only after the welcome.
  [[nodiscard]] SessionKeys session_keys() const;
  [[nodiscard]] PrivateAddresses addresses() const;
  [[nodiscard]] uint16_t mtu() const { return challenge_->mtu; }

 private:
  static void check_accepted(const HandshakeMessage& reply);

  Key secret_;
  HandshakeKey key_;
  Nonce nonce_{random_nonce()};
  std::optional<HandshakeMessage> challenge_{};
  bool welcome_{false};
};

}  // namespace ccgym::tunnel
