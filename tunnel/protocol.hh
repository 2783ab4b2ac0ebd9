// What the tunnel's datagrams look like, behind which the authenticated and the compatible one are alike.
// Neither reads a clock or a socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ccgym::tunnel {

inline constexpr std::size_t kWireOverheadBytes = 8;  // of any protocol, beyond UDP and IP headers
inline constexpr std::size_t kHeadBytes = 8;          // before a packet or a datagram: room to work in
inline constexpr std::size_t kTailBytes = 16;         // after a packet

// A datagram to send; it lies in the slot it was made in.
struct Sealed {
  std::span<const std::byte> datagram;
  uint64_t uid{};
};

// What a datagram was found to be. The last four are not from the peer, or not for us.
enum class Verdict {
  packet,
  keep_alive,
  request,  // to be answered
  bye,
  malformed,
  altered,  // or a stranger's: the MAC is not the peer's
  replayed,
};

struct Opened {
  Verdict verdict{};
  uint64_t uid{};
  std::span<const std::byte> packet{};
  bool newest{};  // no datagram sent later has come before
};

class Protocol {
 public:
  Protocol() = default;
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  virtual ~Protocol() = default;

  // The packet lies in the slot, kHeadBytes from its beginning, kTailBytes or more from its end.
  virtual Sealed seal(std::span<std::byte> slot, std::size_t packet_bytes) = 0;

  // The datagram follows the first kHeadBytes of the slot. The packet that was in it lies there too.
  virtual Opened open(std::span<std::byte> slot) = 0;

  // Asks the peer for a sign of life, or gives one. Empty: there is no such datagram.
  virtual std::span<const std::byte> keep_alive(std::span<std::byte> slot) = 0;
  virtual std::span<const std::byte> bye(std::span<std::byte> slot) = 0;

  // To a request; empty: it deserves none.
  virtual std::span<const std::byte> answer(std::span<const std::byte> request,
                                            std::span<std::byte> slot) = 0;

  // Whether a peer that lives is never silent: it gives signs of life, or answers ours.
  [[nodiscard]] virtual bool peer_breaks_silence() const = 0;
  // Whether a datagram that opens is proof enough that its source is the peer's new address.
  [[nodiscard]] virtual bool peer_may_move() const = 0;
};

}  // namespace ccgym::tunnel
