// pantheon-tunnel's protocol, unauthenticated: 8 bytes of UID in the host's byte order, then the packet. A
// datagram of a UID alone is a control message: the client's call, the server's answer, or a bye. The other
// implementation ends upon any UID alone that is neither call nor answer, but never sends one.
#pragma once

#include "tunnel/protocol.hh"

namespace ccgym::tunnel {

enum class Role { server, client };

class CompatibleProtocol final : public Protocol {
 public:
  static constexpr uint64_t kCall = ~uint64_t{0};        // by the client, until it is answered
  static constexpr uint64_t kAnswer = ~uint64_t{0} - 1;  // by the server, to each call
  static constexpr uint64_t kBye = ~uint64_t{0} - 2;

  explicit CompatibleProtocol(Role role) : role_(role) {}

  Sealed seal(std::span<const std::byte> packet, std::span<std::byte> out) override;
  Opened open(std::span<const std::byte> datagram, std::span<std::byte> scratch) override;
  // The other implementation answers every call and ignores every answer it did not ask for.
  std::size_t keep_alive(std::span<std::byte> out) override;
  std::size_t bye(std::span<std::byte> out) override { return write_word(kBye, out); }
  std::size_t answer(std::span<const std::byte> request, std::span<std::byte> out) override;
  [[nodiscard]] bool peer_breaks_silence() const override { return role_ == Role::client; }
  [[nodiscard]] bool peer_may_move() const override { return false; }

  static std::size_t write_word(uint64_t uid, std::span<std::byte> out);
  static bool is_word(uint64_t uid, std::span<const std::byte> datagram);

 private:
  Role role_;
  uint64_t next_uid_{0};
};

}  // namespace ccgym::tunnel
