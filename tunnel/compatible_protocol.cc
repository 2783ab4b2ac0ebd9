#include "tunnel/compatible_protocol.hh"

#include <cstring>

namespace ccgym::tunnel {

namespace {

constexpr std::size_t kUidBytes = sizeof(uint64_t);

static_assert(kUidBytes == kHeadBytes && kUidBytes == kWireOverheadBytes);

uint64_t read_uid(std::span<const std::byte> datagram) {
  uint64_t uid = 0;
  std::memcpy(&uid, datagram.data(), kUidBytes);
  return uid;
}

}  // namespace

std::span<const std::byte> CompatibleProtocol::word(uint64_t uid, std::span<std::byte> slot) {
  std::memcpy(slot.data(), &uid, kUidBytes);
  return slot.first(kUidBytes);
}

bool CompatibleProtocol::is_word(uint64_t uid, std::span<const std::byte> datagram) {
  return datagram.size() == kUidBytes && read_uid(datagram) == uid;
}

Sealed CompatibleProtocol::seal(std::span<std::byte> slot, std::size_t packet_bytes) {
  const uint64_t uid = next_uid_++;
  word(uid, slot);
  return {slot.first(kUidBytes + packet_bytes), uid};
}

Opened CompatibleProtocol::open(std::span<std::byte> slot) {
  const std::span<std::byte> datagram = slot.subspan(kHeadBytes);
  if (is_word(kCall, datagram)) return {.verdict = Verdict::request};
  if (is_word(kAnswer, datagram)) return {.verdict = Verdict::keep_alive};
  if (datagram.size() <= kUidBytes) return {.verdict = Verdict::malformed};
  return {.verdict = Verdict::packet, .uid = read_uid(datagram), .packet = datagram.subspan(kUidBytes)};
}

std::span<const std::byte> CompatibleProtocol::keep_alive(std::span<std::byte> slot) {
  return word(role_ == Role::client ? kCall : kAnswer, slot);
}

std::span<const std::byte> CompatibleProtocol::answer(std::span<const std::byte>, std::span<std::byte> slot) {
  return role_ == Role::server ? word(kAnswer, slot) : std::span<const std::byte>{};
}

}  // namespace ccgym::tunnel
