// pantheon-tunnel's protocol, unauthenticated: a UID of 8 bytes in the host's byte order, then the packet. A
// datagram with only a UID is a control message: the client's call, the server's answer, or a bye.
// pantheon-tunnel never sends a bye, but ends when it receives a UID alone that is neither call nor answer.
#pragma once

#include "tunnel/protocol.hh"

namespace ccgym::tunnel {

enum class Role { server, client };

class CompatibleProtocol final : public Protocol {
 public:
  static constexpr uint64_t kCall = ~uint64_t{0};        // sent by the client until it is answered
  static constexpr uint64_t kAnswer = ~uint64_t{0} - 1;  // sent by the server for each call
  static constexpr uint64_t kBye = ~uint64_t{0} - 2;

  explicit CompatibleProtocol(Role role) : role_(role) {}

  Sealed seal(std::span<const std::byte> packet, std::span<std::byte> out) override;
  Opened open(std::span<const std::byte> datagram, std::span<std::byte> scratch) override;
  // A call or an answer: pantheon-tunnel answers every call, and ignores unexpected answers.
  std::size_t keep_alive(std::span<std::byte> out) override;
  std::size_t bye(std::span<std::byte> out) override { return write_uid(kBye, out); }
  std::size_t answer(std::span<const std::byte> request, std::span<std::byte> out) override;
  [[nodiscard]] bool peer_breaks_silence() const override { return role_ == Role::client; }
  [[nodiscard]] bool peer_may_move() const override { return false; }

  // Writes a datagram that consists of `uid`; returns its length in bytes.
  static std::size_t write_uid(uint64_t uid, std::span<std::byte> out);
  static bool is_only_uid(uint64_t uid, std::span<const std::byte> datagram);

 private:
  Role role_;
  uint64_t next_uid_{0};
};

}  // namespace ccgym::tunnel
