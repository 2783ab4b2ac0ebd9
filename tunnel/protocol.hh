// The interface of the tunnel's two protocols, the authenticated and the compatible one, which differ in the
// format of the datagrams. Implementations read no clock and no socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ccgym::tunnel {

// Overhead of a packet from one end to the other, without UDP and IP headers.
inline constexpr std::size_t kWireOverheadBytes = 8;
inline constexpr std::size_t kMaxOverheadBytes = 20;  // of any other packet, whose header cannot be elided
inline constexpr std::size_t kMaxControlBytes = 64;   // of a datagram without a packet
// A datagram to send: the first `bytes` bytes of the buffer that it was written to.
struct Sealed {
  std::size_t bytes{};
  uint64_t uid{};
};

// The kinds of received datagrams; the last three are to be dropped.
enum class Verdict {
  packet,
  keep_alive,
  request,  // to be answered
  bye,
  malformed,
  altered,  // the MAC is wrong: altered on the way, or not sent by the peer
  replayed,
};

struct Opened {
  Verdict verdict{};
  uint64_t uid{};
  std::span<const std::byte> packet{};  // in the datagram, or in the scratch memory
  bool newest{};                        // its UID is above all that were received before
};

class Protocol {
 public:
  Protocol() = default;
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  virtual ~Protocol() = default;

  // `out` has room for the packet and kMaxOverheadBytes.
  virtual Sealed seal(std::span<const std::byte> packet, std::span<std::byte> out) = 0;

  // `scratch`: memory for a packet whose header is restored, at least 12 bytes longer than the datagram.
  virtual Opened open(std::span<const std::byte> datagram, std::span<std::byte> scratch) = 0;

  // The next three write a datagram to `out`, which has room for kMaxControlBytes, and return its length;
  // 0 if the protocol has no such datagram. Tells the peer that this end is alive, or asks whether the peer
  // is.
  virtual std::size_t keep_alive(std::span<std::byte> out) = 0;
  virtual std::size_t bye(std::span<std::byte> out) = 0;
  // The answer to a request.
  virtual std::size_t answer(std::span<const std::byte> request, std::span<std::byte> out) = 0;

  // Whether silence means that the peer is gone, because it sends keep-alives or answers those of this end.
  [[nodiscard]] virtual bool peer_breaks_silence() const = 0;
  // Whether the source of a valid datagram becomes the peer's address, as after a change of address by a NAT.
  [[nodiscard]] virtual bool peer_may_move() const = 0;
};

}  // namespace ccgym::tunnel
