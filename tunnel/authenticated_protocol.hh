// The default protocol: every datagram carries a MAC, and no UID is accepted twice. A session datagram:
//
//   offset 0  1 bit: always 1 | 1 bit: header elided | low 30 bits of the UID, network byte order
//          4  the inner packet; if elided, its first 20 bytes are shortened to 8 (inner_header.hh)
//             keep-alive: nothing; bye: 1 byte
//   last 16   MAC: Poly1305 (RFC 8439) of all bytes before it, under the one-time key of the whole UID,
//             which is derived from the session key of the direction (one_time_keys.hh)
#pragma once

#include <optional>

#include "tunnel/one_time_keys.hh"
#include "tunnel/private_addresses.hh"
#include "tunnel/protocol.hh"
#include "tunnel/replay_window.hh"
#include "tunnel/secret.hh"
#include "tunnel/server_handshake.hh"

namespace ccgym::tunnel {

class AuthenticatedProtocol final : public Protocol {
 public:
  struct Direction {
    Key outgoing;
    Key incoming;
  };

  // `handshake`: only for the server, which may still have to answer repeated handshake messages.
  AuthenticatedProtocol(const Direction& keys, const PrivateAddresses& addresses,
                        std::optional<ServerHandshake> handshake);

  Sealed seal(std::span<const std::byte> packet, std::span<std::byte> out) override;
  Opened open(std::span<const std::byte> datagram, std::span<std::byte> scratch) override;
  std::size_t keep_alive(std::span<std::byte> out) override;
  std::size_t bye(std::span<std::byte> out) override;
  std::size_t answer(std::span<const std::byte> request, std::span<std::byte> out) override;
  [[nodiscard]] bool peer_breaks_silence() const override { return true; }
  [[nodiscard]] bool peer_may_move() const override { return true; }

 private:
  Sealed finish(std::span<std::byte> out, std::size_t body_bytes, bool elided);

  OneTimeKeys outgoing_keys_;
  OneTimeKeys incoming_keys_;
  PrivateAddresses addresses_;
  std::optional<ServerHandshake> handshake_;
  ReplayWindow window_{};
  uint64_t next_uid_{0};
};

}  // namespace ccgym::tunnel
