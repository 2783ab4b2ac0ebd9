#include "tunnel/authenticated_protocol.hh"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "tunnel/inner_header.hh"
#include "tunnel/uid.hh"

namespace ccgym::tunnel {

namespace {

constexpr std::size_t kUidBytes = 4;
constexpr std::size_t kMacBytes = crypto_aead_chacha20poly1305_ietf_ABYTES;
constexpr uint32_t kSessionBit = uint32_t{1} << 31;
constexpr uint32_t kElidedBit = uint32_t{1} << 30;

static_assert(kMacBytes == kTailBytes);
static_assert(kUidBytes + kElidedHeaderBytes + kMacBytes == kIpHeaderBytes + kWireOverheadBytes);

using Mac = std::array<unsigned char, kMacBytes>;

uint32_t read_u32(std::span<const std::byte> bytes) {
  uint32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return ntohl(number);
}

void write_u32(std::span<std::byte> bytes, uint32_t number) {
  number = htonl(number);
  std::memcpy(bytes.data(), &number, sizeof number);
}

Mac mac_of(std::span<const std::byte> bytes, uint64_t uid, const Key& key) {
  std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES> nonce{};
  for (std::size_t i = 0; i < 8; ++i) nonce[4 + i] = static_cast<unsigned char>(uid >> (56 - 8 * i));
  Mac mac{};
  unsigned char no_text = 0;
  unsigned long long mac_bytes = 0;
  crypto_aead_chacha20poly1305_ietf_encrypt_detached(
      &no_text, mac.data(), &mac_bytes, nullptr, 0, reinterpret_cast<const unsigned char*>(bytes.data()),
      bytes.size(), nullptr, nonce.data(), reinterpret_cast<const unsigned char*>(key.data()));
  return mac;
}

}  // namespace

AuthenticatedProtocol::AuthenticatedProtocol(const Direction& keys, const PrivateAddresses& addresses,
                                             std::optional<Doorkeeper> doorkeeper)
    : keys_(keys), addresses_(addresses), doorkeeper_(std::move(doorkeeper)) {}

Sealed AuthenticatedProtocol::finish(std::span<std::byte> datagram_and_tail, bool elided) {
  const uint64_t uid = next_uid_++;
  const auto low_bits = static_cast<uint32_t>(uid & (kWireUids - 1));
  write_u32(datagram_and_tail, kSessionBit | (elided ? kElidedBit : 0) | low_bits);
  const auto covered = datagram_and_tail.first(datagram_and_tail.size() - kMacBytes);
  const Mac mac = mac_of(covered, uid, keys_.outgoing);
  std::memcpy(datagram_and_tail.last(kMacBytes).data(), mac.data(), kMacBytes);
  return {datagram_and_tail, uid};
}

Sealed AuthenticatedProtocol::seal(std::span<std::byte> slot, std::size_t packet_bytes) {
  const std::span<std::byte> packet = slot.subspan(kHeadBytes, packet_bytes);
  const bool elided = can_elide(packet, addresses_);
  if (elided) elide(packet);
  const std::size_t body_at = kHeadBytes + (elided ? kIpHeaderBytes - kElidedHeaderBytes : 0);
  const std::size_t datagram_at = body_at - kUidBytes;
  const std::size_t end = kHeadBytes + packet_bytes + kMacBytes;
  return finish(slot.subspan(datagram_at, end - datagram_at), elided);
}

Opened AuthenticatedProtocol::open(std::span<std::byte> slot) {
  const std::span<std::byte> datagram = slot.subspan(kHeadBytes);
  if (parse_introduction(datagram)) return {.verdict = Verdict::request};
  if (datagram.size() < kUidBytes + kMacBytes) return {.verdict = Verdict::malformed};
  const uint32_t head = read_u32(datagram);
  if ((head & kSessionBit) == 0) return {.verdict = Verdict::malformed};
  const uint64_t uid = nearest_uid(window_.next(), head & (kWireUids - 1));
  if (window_.heard(uid)) return {.verdict = Verdict::replayed};
  const auto covered = datagram.first(datagram.size() - kMacBytes);
  const Mac mac = mac_of(covered, uid, keys_.incoming);
  if (sodium_memcmp(mac.data(), datagram.last(kMacBytes).data(), kMacBytes) != 0)
    return {.verdict = Verdict::altered};
  const bool newest = uid >= window_.next();
  window_.mark(uid);
  Opened opened = unwrap(slot, covered.size() - kUidBytes, uid);
  opened.newest = newest;
  return opened;
}

Opened AuthenticatedProtocol::unwrap(std::span<std::byte> slot, std::size_t body_bytes, uint64_t uid) const {
  if (body_bytes <= 1) return {.verdict = body_bytes == 0 ? Verdict::keep_alive : Verdict::bye, .uid = uid};
  const std::size_t body_at = kHeadBytes + kUidBytes;
  if ((read_u32(slot.subspan(kHeadBytes)) & kElidedBit) == 0)
    return {.verdict = Verdict::packet, .uid = uid, .packet = slot.subspan(body_at, body_bytes)};
  constexpr std::size_t kElidedBytes = kIpHeaderBytes - kElidedHeaderBytes;
  const std::span<std::byte> packet = slot.subspan(body_at - kElidedBytes, body_bytes + kElidedBytes);
  if (!restore(packet, addresses_.swapped())) return {.verdict = Verdict::malformed};
  return {.verdict = Verdict::packet, .uid = uid, .packet = packet};
}

std::span<const std::byte> AuthenticatedProtocol::keep_alive(std::span<std::byte> slot) {
  return finish(slot.first(kUidBytes + kMacBytes), false).datagram;
}

std::span<const std::byte> AuthenticatedProtocol::bye(std::span<std::byte> slot) {
  slot[kUidBytes] = std::byte{1};
  return finish(slot.first(kUidBytes + 1 + kMacBytes), false).datagram;
}

std::span<const std::byte> AuthenticatedProtocol::answer(std::span<const std::byte> request,
                                                         std::span<std::byte> slot) {
  if (!doorkeeper_) return {};
  const std::optional<IntroductionBytes> reply =
      doorkeeper_->answer(request, 0);  // who is let in knows the MTU
  if (!reply) return {};
  std::ranges::copy(*reply, slot.begin());
  return slot.first(reply->size());
}

}  // namespace ccgym::tunnel
