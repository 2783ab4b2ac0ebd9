// The datagrams of the endpoint, one message each, all numbers in network byte order:
//
//   offset 0  magic "ccgm" | 4 version | 5 type | 6 flow token (8 bytes)       every datagram: 14 bytes
//   data      14 sequence number (8) | 22 zeros up to kDataBytes
//   ack       14 sequence number (8) | 22 received_at in ns (8) | 30 received packets (6) | 36 CE count (2)
//   hello     14 cookie (8) | 22 proof (8)
//   retry     14 cookie (8)
//   hello reply, bye, bye reply: nothing more
//
// A flow consists of hellos until a hello reply comes, data packets with one ack each, and a bye. The reply
// to the first hello is a retry. The next hello returns the retry's cookie, which validates the sender's
// address (RFC 9000, section 8.1), and the proof shows that the sender knows the secret, if there is one. No
// reply is longer than the datagram that caused it, so that forged source addresses cannot be used for
// amplification.
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
  uint64_t cookie{};  // of the receiver's retry; before that, any number
  uint64_t proof{};   // proof_of(), if there is a secret
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
  Time received_at{};  // receiver's clock: only differences are meaningful
  // Of this flow so far, without duplicates: tells lost data from lost ACKs.
  uint64_t received_packets{};
  uint16_t ce_count{};  // CE-marked packets of these, modulo 2^16
};
struct Bye {
  uint64_t flow{};
};
struct ByeReply {
  uint64_t flow{};
};

using Datagram = std::variant<Hello, HelloReply, Data, Ack, Bye, ByeReply, Retry>;

// nullopt for anything that is not exactly one datagram of this version of the protocol.
std::optional<Datagram> parse(std::span<const std::byte> bytes);

using ControlBuffer = std::array<std::byte, kControlBytes>;

std::array<std::byte, kHelloBytes> serialize(const Hello& hello);
std::array<std::byte, kRetryBytes> serialize(const Retry& retry);
ControlBuffer serialize(const HelloReply& reply);
ControlBuffer serialize(const Bye& bye);
ControlBuffer serialize(const ByeReply& reply);
std::array<std::byte, kAckBytes> serialize(const Ack& ack);

// Writes in place, because it runs for every packet: `out` must hold zeros or an earlier data datagram.
void serialize(const Data& data, std::span<std::byte, kDataBytes> out);

}  // namespace ccgym
