// The interface of the tunnel's two protocols, the authenticated and the compatible one: the format of
// datagrams. Implementations read no clock and no socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ccgym::tunnel {

inline constexpr std::size_t kWireOverheadBytes = 8;     // per packet, beyond UDP and IP headers
inline constexpr std::size_t kMostOverheadBytes = 20;    // of a packet that is not from one end to the other
inline constexpr std::size_t kLongestControlBytes = 64;  // of a datagram without a packet

// A datagram to send: the first bytes of the buffer it was written to.
struct Sealed {
  std::size_t bytes{};
  uint64_t uid{};
};

// The kinds of received datagrams. The last four are not from the peer, or not for us.
enum class Verdict {
  packet,
  keep_alive,
  request,  // to be answered
  bye,
  malformed,
  altered,  // or from a stranger: the MAC is not the peer's
  replayed,
};

struct Opened {
  Verdict verdict{};
  uint64_t uid{};
  std::span<const std::byte> packet{};  // in the datagram, or in the scratch memory
  bool newest{};                        // no datagram that was sent later has arrived before
};

class Protocol {
 public:
  Protocol() = default;
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  virtual ~Protocol() = default;

  // `out` has room for the packet and kMostOverheadBytes.
  virtual Sealed seal(std::span<const std::byte> packet, std::span<std::byte> out) = 0;

  // `scratch`: for a packet that the datagram does not hold entirely; 12 bytes longer than the datagram.
  virtual Opened open(std::span<const std::byte> datagram, std::span<std::byte> scratch) = 0;

  // These write to `out`, of at least kLongestControlBytes; 0 bytes: the protocol has no such datagram.

  // A keep-alive: asks the peer for a sign of life, or gives one.
  virtual std::size_t keep_alive(std::span<std::byte> out) = 0;
  virtual std::size_t bye(std::span<std::byte> out) = 0;
  // The answer to a request.
  virtual std::size_t answer(std::span<const std::byte> request, std::span<std::byte> out) = 0;

  // Whether a living peer is never silent: it sends keep-alives, or answers ours.
  [[nodiscard]] virtual bool peer_breaks_silence() const = 0;
  // Whether a valid datagram is proof enough that its source is the peer's new address.
  [[nodiscard]] virtual bool peer_may_move() const = 0;
};

}  // namespace ccgym::tunnel
