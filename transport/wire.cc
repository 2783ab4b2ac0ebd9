#include "transport/wire.hh"

#include <algorithm>

namespace ccgym {

namespace {

constexpr std::array kMagic{std::byte{'c'}, std::byte{'c'}, std::byte{'g'}, std::byte{'m'}};
constexpr std::byte kVersion{3};
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kTypeAt = 5;
constexpr std::size_t kFlowAt = 6;
constexpr std::size_t kSeqAt = 14;
constexpr std::size_t kCookieAt = 14;
constexpr std::size_t kProofAt = 22;
constexpr std::size_t kReceivedAtAt = 22;
constexpr std::size_t kReceivedPacketsAt = 30;
constexpr std::size_t kCeCountAt = 36;
constexpr std::size_t kNumberBytes = 8;

// Larger than the time of any clock, and small enough that no difference of two times overflows.
constexpr uint64_t kMaxTimeNs = uint64_t{1} << 62;

enum class Type : uint8_t { hello = 1, hello_reply, data, ack, bye, bye_reply, retry };

uint64_t read_number(std::span<const std::byte> bytes, std::size_t at, std::size_t size = kNumberBytes) {
  uint64_t value = 0;
  for (const std::byte byte : bytes.subspan(at, size)) value = value << 8 | std::to_integer<uint64_t>(byte);
  return value;
}

// Higher bytes that do not fit into `size` are cut off.
void write_number(std::span<std::byte> bytes, std::size_t at, uint64_t value,
                  std::size_t size = kNumberBytes) {
  for (std::size_t i = size; i > 0; --i, value >>= 8) bytes[at + i - 1] = static_cast<std::byte>(value);
}

void write_head(std::span<std::byte> bytes, Type type, uint64_t flow) {
  std::ranges::copy(kMagic, bytes.begin());
  bytes[kVersionAt] = kVersion;
  bytes[kTypeAt] = static_cast<std::byte>(type);
  write_number(bytes, kFlowAt, flow);
}

ControlBuffer control(Type type, uint64_t flow) {
  ControlBuffer bytes{};
  write_head(bytes, type, flow);
  return bytes;
}

template <class Control>
std::optional<Datagram> parse_control(std::span<const std::byte> bytes) {
  if (bytes.size() != kControlBytes) return std::nullopt;
  return Control{read_number(bytes, kFlowAt)};
}

std::optional<Datagram> parse_hello(std::span<const std::byte> bytes) {
  if (bytes.size() != kHelloBytes) return std::nullopt;
  return Hello{read_number(bytes, kFlowAt), read_number(bytes, kCookieAt), read_number(bytes, kProofAt)};
}

std::optional<Datagram> parse_retry(std::span<const std::byte> bytes) {
  if (bytes.size() != kRetryBytes) return std::nullopt;
  return Retry{read_number(bytes, kFlowAt), read_number(bytes, kCookieAt)};
}

std::optional<Datagram> parse_data(std::span<const std::byte> bytes) {
  if (bytes.size() != kDataBytes) return std::nullopt;
  return Data{read_number(bytes, kFlowAt), read_number(bytes, kSeqAt)};
}

std::optional<Datagram> parse_ack(std::span<const std::byte> bytes) {
  if (bytes.size() != kAckBytes) return std::nullopt;
  const uint64_t received_at_ns = read_number(bytes, kReceivedAtAt);
  if (received_at_ns >= kMaxTimeNs) return std::nullopt;
  return Ack{read_number(bytes, kFlowAt), read_number(bytes, kSeqAt),
             Time{static_cast<int64_t>(received_at_ns)},
             read_number(bytes, kReceivedPacketsAt, kCeCountAt - kReceivedPacketsAt),
             static_cast<uint16_t>(read_number(bytes, kCeCountAt, kAckBytes - kCeCountAt))};
}

}  // namespace

std::optional<Datagram> parse(std::span<const std::byte> bytes) {
  if (bytes.size() < kControlBytes || !std::ranges::equal(bytes.first(kMagic.size()), kMagic) ||
      bytes[kVersionAt] != kVersion)
    return std::nullopt;
  switch (Type{std::to_integer<uint8_t>(bytes[kTypeAt])}) {
    case Type::hello:
      return parse_hello(bytes);
    case Type::hello_reply:
      return parse_control<HelloReply>(bytes);
    case Type::data:
      return parse_data(bytes);
    case Type::ack:
      return parse_ack(bytes);
    case Type::bye:
      return parse_control<Bye>(bytes);
    case Type::bye_reply:
      return parse_control<ByeReply>(bytes);
    case Type::retry:
      return parse_retry(bytes);
  }
  return std::nullopt;
}

std::array<std::byte, kHelloBytes> serialize(const Hello& hello) {
  std::array<std::byte, kHelloBytes> bytes{};
  write_head(bytes, Type::hello, hello.flow);
  write_number(bytes, kCookieAt, hello.cookie);
  write_number(bytes, kProofAt, hello.proof);
  return bytes;
}

std::array<std::byte, kRetryBytes> serialize(const Retry& retry) {
  std::array<std::byte, kRetryBytes> bytes{};
  write_head(bytes, Type::retry, retry.flow);
  write_number(bytes, kCookieAt, retry.cookie);
  return bytes;
}

ControlBuffer serialize(const HelloReply& reply) { return control(Type::hello_reply, reply.flow); }
ControlBuffer serialize(const Bye& bye) { return control(Type::bye, bye.flow); }
ControlBuffer serialize(const ByeReply& reply) { return control(Type::bye_reply, reply.flow); }

std::array<std::byte, kAckBytes> serialize(const Ack& ack) {
  std::array<std::byte, kAckBytes> bytes{};
  write_head(bytes, Type::ack, ack.flow);
  write_number(bytes, kSeqAt, ack.seq);
  write_number(bytes, kReceivedAtAt, static_cast<uint64_t>(ack.received_at.count()));
  write_number(bytes, kReceivedPacketsAt, ack.received_packets, kCeCountAt - kReceivedPacketsAt);
  write_number(bytes, kCeCountAt, ack.ce_count, kAckBytes - kCeCountAt);
  return bytes;
}

void serialize(const Data& data, std::span<std::byte, kDataBytes> out) {
  write_head(out, Type::data, data.flow);
  write_number(out, kSeqAt, data.seq);
}

}  // namespace ccgym
