// The datagrams of the endpoint, one message each, all numbers in network byte order:
//
//   offset 0  magic "ccgm" | 4 version | 5 type | 6 flow token (8 bytes)       every datagram: 14 bytes
//   data      14 sequence number (8) | 22 zeros up to kDataBytes
//   ack       14 sequence number (8) | 22 received_at in ns (8) | 30 received packets (6) | 36 CE count (2)
//   hello     14 cookie (8) | 22 proof (8)
//   retry     14 cookie (8)
//   hello reply, bye, bye reply: nothing more
//
// A flow is: hello until a hello reply comes, data answered by one ack each, bye. The first hello is answered
// by a retry, whose cookie shows in the next one that the sender is where it says (RFC 9000, section 8.1);
// the proof, that it knows the secret, where there is one. Replies are never longer than what they answer, so
// that a forged source address is of no use to anyone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "transport/units.hh"

namespace ccgym {

inline constexpr std::size_t kDataBytes = 1436;  // 1464 with UDP and IPv4 headers: the MTU inside the tunnel
inline constexpr std::size_t kAckBytes = 38;     // as Indigo's
inline constexpr std::size_t kControlBytes = 14;
inline constexpr std::size_t kHelloBytes = 30;
inline constexpr std::size_t kRetryBytes = 22;

struct Hello {
  uint64_t flow{};    // token: random, new for every flow
  uint64_t cookie{};  // of the receiver's retry; anything before
  uint64_t proof{};   // see Receiver
};
struct Retry {
  uint64_t flow{};
  uint64_t cookie{};
};
struct HelloReply {
  uint64_t flow{};
};
struct Data {
  uint64_t flow{};
  uint64_t seq{};
};
struct Ack {
  uint64_t flow{};
  uint64_t seq{};
  Time received_at{};           // receiver clock: differences only
  uint64_t received_packets{};  // of this flow up to now, each once: tells lost data from lost ACKs
  uint16_t ce_count{};          // of these, marked "congestion experienced", modulo 2^16: see Sender
};
struct Bye {
  uint64_t flow{};
};
struct ByeReply {
  uint64_t flow{};
};

using Datagram = std::variant<Hello, HelloReply, Data, Ack, Bye, ByeReply, Retry>;

// nullopt for anything that is not exactly one datagram of this version.
std::optional<Datagram> parse(std::span<const std::byte> bytes);

using ControlBuffer = std::array<std::byte, kControlBytes>;

std::array<std::byte, kHelloBytes> serialize(const Hello& hello);
std::array<std::byte, kRetryBytes> serialize(const Retry& retry);
ControlBuffer serialize(const HelloReply& reply);
ControlBuffer serialize(const Bye& bye);
ControlBuffer serialize(const ByeReply& reply);
std::array<std::byte, kAckBytes> serialize(const Ack& ack);

// The sender's hot path writes in place: `out` holds zeros or an earlier data datagram.
void serialize(const Data& data, std::span<std::byte, kDataBytes> out);

}  // namespace ccgym
