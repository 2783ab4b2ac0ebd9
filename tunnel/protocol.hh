// What the tunnel's datagrams look like, behind which the authenticated and the compatible one are alike.
// Neither reads a clock or a socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ccgym::tunnel {

inline constexpr std::size_t kWireOverheadBytes = 8;     // per packet, beyond UDP and IP headers
inline constexpr std::size_t kMostOverheadBytes = 20;    // of a packet that is none from end to end
inline constexpr std::size_t kLongestControlBytes = 64;  // of a datagram without a packet

// A datagram to send: the first bytes of the buffer it was written to.
struct Sealed {
  std::size_t bytes{};
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
  std::span<const std::byte> packet{};  // in the datagram, or in the scratch memory
  bool newest{};                        // no datagram sent later has come before
};

class Protocol {
 public:
  Protocol() = default;
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  virtual ~Protocol() = default;

  // `out` has room for the packet and kMostOverheadBytes.
  virtual Sealed seal(std::span<const std::byte> packet, std::span<std::byte> out) = 0;

  // `scratch`: for the packet, where the datagram does not hold all of it; 12 bytes longer than that.
  virtual Opened open(std::span<const std::byte> datagram, std::span<std::byte> scratch) = 0;

  // What follows is written to `out`, of kLongestControlBytes at least; 0 bytes: there is no such datagram.

  // Asks the peer for a sign of life, or gives one.
  virtual std::size_t keep_alive(std::span<std::byte> out) = 0;
  virtual std::size_t bye(std::span<std::byte> out) = 0;
  // To a request.
  virtual std::size_t answer(std::span<const std::byte> request, std::span<std::byte> out) = 0;

  // Whether a peer that lives is never silent: it gives signs of life, or answers ours.
  [[nodiscard]] virtual bool peer_breaks_silence() const = 0;
  // Whether a datagram that opens is proof enough that its source is the peer's new address.
  [[nodiscard]] virtual bool peer_may_move() const = 0;
};

}  // namespace ccgym::tunnel
