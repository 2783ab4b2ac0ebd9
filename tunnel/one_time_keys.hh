// The one-time keys of a session's MACs: Poly1305 (RFC 8439, section 2.5) is secure only if each key is used
// for a single datagram. The key of UID u is bytes 32 (u mod 16) to 32 (u mod 16) + 31 of the ChaCha20 key
// stream (section 2.4) under the session key, with the nonce u div 16. RFC 8439 generates one key per nonce;
// here 16 are generated at once, because with vector instructions eight blocks of the stream cost little more
// than one.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "tunnel/secret.hh"

namespace ccgym::tunnel {

class OneTimeKeys {
 public:
  explicit OneTimeKeys(const Key& session) : session_(session) {}

  // The key of `uid`; the reference is valid until the next call.
  const Key& of(uint64_t uid);

 private:
  static constexpr uint64_t kAtOnce = 16;

  void make(uint64_t nonce);

  Key session_;
  std::array<Key, kAtOnce> keys_{};
  uint64_t nonce_{std::numeric_limits<uint64_t>::max()};  // of keys_; initially one that no UID has
};

}  // namespace ccgym::tunnel
