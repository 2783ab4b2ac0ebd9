#include "tunnel/authenticated_protocol.hh"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "tunnel/handshake.hh"
#include "tunnel/inner_header.hh"
#include "tunnel/uid.hh"

namespace ccgym::tunnel {

namespace {

constexpr std::size_t kUidBytes = 4;
constexpr std::size_t kMacBytes = crypto_onetimeauth_BYTES;
constexpr uint32_t kSessionBit = uint32_t{1} << 31;
constexpr uint32_t kElidedBit = uint32_t{1} << 30;

static_assert(kKeyBytes == crypto_onetimeauth_KEYBYTES);
static_assert(kUidBytes + kMacBytes == kMaxOverheadBytes);
static_assert(kHandshakeBytes <= kMaxControlBytes);
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

Mac mac_of(std::span<const std::byte> bytes, const Key& key) {
  Mac mac{};
  crypto_onetimeauth(mac.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                     reinterpret_cast<const unsigned char*>(key.data()));
  return mac;
}

}  // namespace

AuthenticatedProtocol::AuthenticatedProtocol(const Direction& keys, const PrivateAddresses& addresses,
                                             std::optional<ServerHandshake> handshake)
    : outgoing_keys_(keys.outgoing),
      incoming_keys_(keys.incoming),
      addresses_(addresses),
      handshake_(handshake) {}

Sealed AuthenticatedProtocol::finish(std::span<std::byte> out, std::size_t body_bytes, bool elided) {
  const uint64_t uid = next_uid_++;
  write_u32(out, kSessionBit | (elided ? kElidedBit : 0) | static_cast<uint32_t>(uid & (kWireUids - 1)));
  const std::size_t covered = kUidBytes + body_bytes;
  const Mac mac = mac_of(out.first(covered), outgoing_keys_.of(uid));
  std::memcpy(&out[covered], mac.data(), kMacBytes);
  return {covered + kMacBytes, uid};
}

Sealed AuthenticatedProtocol::seal(std::span<const std::byte> packet, std::span<std::byte> out) {
  const bool elided = can_elide(packet, addresses_);
  const std::span<std::byte> body = out.subspan(kUidBytes);
  if (!elided) std::ranges::copy(packet, body.begin());
  return finish(out, elided ? elide(packet, body) : packet.size(), elided);
}

Opened AuthenticatedProtocol::open(std::span<const std::byte> datagram, std::span<std::byte> scratch) {
  if (parse_handshake(datagram)) return {.verdict = Verdict::request};
  if (datagram.size() < kUidBytes + kMacBytes) return {.verdict = Verdict::malformed};
  const uint32_t head = read_u32(datagram);
  if ((head & kSessionBit) == 0) return {.verdict = Verdict::malformed};
  const uint64_t uid = nearest_uid(window_.next(), head & (kWireUids - 1));
  if (window_.heard(uid)) return {.verdict = Verdict::replayed};
  const auto covered = datagram.first(datagram.size() - kMacBytes);
  const Mac mac = mac_of(covered, incoming_keys_.of(uid));
  if (sodium_memcmp(mac.data(), datagram.last(kMacBytes).data(), kMacBytes) != 0)
    return {.verdict = Verdict::altered};
  Opened opened{.uid = uid, .newest = uid >= window_.next()};
  window_.mark(uid);
  const auto body = covered.subspan(kUidBytes);
  if (body.size() <= 1) {
    opened.verdict = body.empty() ? Verdict::keep_alive : Verdict::bye;
    return opened;
  }
  opened.packet = (head & kElidedBit) != 0 ? restore(body, addresses_.swapped(), scratch) : body;
  opened.verdict = opened.packet.empty() ? Verdict::malformed : Verdict::packet;
  return opened;
}

std::size_t AuthenticatedProtocol::keep_alive(std::span<std::byte> out) {
  return finish(out, 0, false).bytes;
}

std::size_t AuthenticatedProtocol::bye(std::span<std::byte> out) {
  out[kUidBytes] = std::byte{1};
  return finish(out, 1, false).bytes;
}

std::size_t AuthenticatedProtocol::answer(std::span<const std::byte> request, std::span<std::byte> out) {
  if (!handshake_) return 0;
  const std::optional<HandshakeBytes> reply = handshake_->answer(request, 0);  // its client knows the MTU
  if (!reply) return 0;
  std::ranges::copy(*reply, out.begin());
  return reply->size();
}

}  // namespace ccgym::tunnel
