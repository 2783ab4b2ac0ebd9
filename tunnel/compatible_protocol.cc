#include "tunnel/compatible_protocol.hh"

#include <algorithm>
#include <cstring>

namespace ccgym::tunnel {

namespace {

constexpr std::size_t kUidBytes = sizeof(uint64_t);

static_assert(kUidBytes == kWireOverheadBytes);

uint64_t read_uid(std::span<const std::byte> datagram) {
  uint64_t uid = 0;
  std::memcpy(&uid, datagram.data(), kUidBytes);
  return uid;
}

}  // namespace

std::size_t CompatibleProtocol::write_uid(uint64_t uid, std::span<std::byte> out) {
  std::memcpy(out.data(), &uid, kUidBytes);
  return kUidBytes;
}

bool CompatibleProtocol::is_only_uid(uint64_t uid, std::span<const std::byte> datagram) {
  return datagram.size() == kUidBytes && read_uid(datagram) == uid;
}

Sealed CompatibleProtocol::seal(std::span<const std::byte> packet, std::span<std::byte> out) {
  const uint64_t uid = next_uid_++;
  std::ranges::copy(packet, out.begin() + static_cast<long>(write_uid(uid, out)));
  return {kUidBytes + packet.size(), uid};
}

Opened CompatibleProtocol::open(std::span<const std::byte> datagram, std::span<std::byte>) {
  if (is_only_uid(kCall, datagram)) return {.verdict = Verdict::request};
  if (is_only_uid(kAnswer, datagram)) return {.verdict = Verdict::keep_alive};
  if (is_only_uid(kBye, datagram)) return {.verdict = Verdict::bye};
  if (datagram.size() <= kUidBytes) return {.verdict = Verdict::malformed};
  return {.verdict = Verdict::packet, .uid = read_uid(datagram), .packet = datagram.subspan(kUidBytes)};
}

std::size_t CompatibleProtocol::keep_alive(std::span<std::byte> out) {
  return write_uid(role_ == Role::client ? kCall : kAnswer, out);
}

std::size_t CompatibleProtocol::answer(std::span<const std::byte>, std::span<std::byte> out) {
  return role_ == Role::server ? write_uid(kAnswer, out) : 0;
}

}  // namespace ccgym::tunnel
