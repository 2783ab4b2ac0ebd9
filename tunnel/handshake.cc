#include "tunnel/handshake.hh"

#include <sodium.h>

#include <cstring>
#include <string_view>

namespace ccgym::tunnel {

namespace {

constexpr std::string_view kMagic = "ccgt";
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kTypeAt = 5;
constexpr std::size_t kClientNonceAt = 6;
constexpr std::size_t kServerNonceAt = 22;
constexpr std::size_t kClientAddressAt = 38;
constexpr std::size_t kServerAddressAt = 42;
constexpr std::size_t kMtuAt = 46;
constexpr std::size_t kMacAt = 48;
constexpr std::size_t kMacBytes = 16;

const unsigned char* raw(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }
unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

Key derive_key(const Key& secret, std::string_view purpose, const Nonce& client, const Nonce& server) {
  crypto_generichash_state state{};
  crypto_generichash_init(&state, raw(secret.data()), secret.size(), kKeyBytes);
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size());
  crypto_generichash_update(&state, raw(client.data()), client.size());
  crypto_generichash_update(&state, raw(server.data()), server.size());
  Key key{};
  crypto_generichash_final(&state, raw(key.data()), key.size());
  return key;
}

std::array<unsigned char, kMacBytes> mac_of(std::span<const std::byte> bytes, const Key& key) {
  std::array<unsigned char, kMacBytes> mac{};
  crypto_generichash(mac.data(), mac.size(), raw(bytes.data()), kMacAt, raw(key.data()), key.size());
  return mac;
}

}  // namespace

Nonce random_nonce() {
  Nonce nonce{};
  randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

std::optional<HandshakeMessage> parse_handshake(std::span<const std::byte> bytes) {
  if (bytes.size() != kHandshakeBytes || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return std::nullopt;
  HandshakeMessage handshake;
  handshake.version = std::to_integer<uint8_t>(bytes[kVersionAt]);
  handshake.type = HandshakeMessage::Type{std::to_integer<uint8_t>(bytes[kTypeAt])};
  std::memcpy(&handshake.client_nonce, &bytes[kClientNonceAt], sizeof(Nonce));
  std::memcpy(&handshake.server_nonce, &bytes[kServerNonceAt], sizeof(Nonce));
  std::memcpy(&handshake.client_address, &bytes[kClientAddressAt], sizeof(in_addr));
  std::memcpy(&handshake.server_address, &bytes[kServerAddressAt], sizeof(in_addr));
  handshake.mtu = static_cast<uint16_t>(std::to_integer<unsigned>(bytes[kMtuAt]) << 8 |
                                        std::to_integer<unsigned>(bytes[kMtuAt + 1]));
  return handshake;
}

HandshakeKey::HandshakeKey(const Key& secret) : key_(derive_key(secret, "ccgym-tunnel handshake", {}, {})) {}

HandshakeBytes HandshakeKey::serialize(const HandshakeMessage& handshake) const {
  HandshakeBytes bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  bytes[kVersionAt] = std::byte{handshake.version};
  bytes[kTypeAt] = static_cast<std::byte>(handshake.type);
  std::memcpy(&bytes[kClientNonceAt], &handshake.client_nonce, sizeof(Nonce));
  std::memcpy(&bytes[kServerNonceAt], &handshake.server_nonce, sizeof(Nonce));
  std::memcpy(&bytes[kClientAddressAt], &handshake.client_address, sizeof(in_addr));
  std::memcpy(&bytes[kServerAddressAt], &handshake.server_address, sizeof(in_addr));
  bytes[kMtuAt] = static_cast<std::byte>(handshake.mtu >> 8);
  bytes[kMtuAt + 1] = static_cast<std::byte>(handshake.mtu);
  const auto mac = mac_of(bytes, key_);
  std::memcpy(&bytes[kMacAt], mac.data(), mac.size());
  return bytes;
}

bool HandshakeKey::is_authentic(std::span<const std::byte> bytes) const {
  return bytes.size() == kHandshakeBytes &&
         sodium_memcmp(mac_of(bytes, key_).data(), &bytes[kMacAt], kMacBytes) == 0;
}

SessionKeys derive_session_keys(const Key& secret, const Nonce& client, const Nonce& server) {
  return {derive_key(secret, "ccgym-tunnel client to server", client, server),
          derive_key(secret, "ccgym-tunnel server to client", client, server)};
}

}  // namespace ccgym::tunnel
