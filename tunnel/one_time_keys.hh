// The keys of a session's MACs, one for every UID: Poly1305 (RFC 8439, section 2.5) is a MAC only under a key
// that no other datagram has. UID u has bytes 32 (u mod 16) to 32 (u mod 16) + 31 of the ChaCha20 key stream
// (section 2.4) under the session key with u div 16 as nonce: what RFC 8439 makes one key of, made for 16
// UIDs at a time, as a processor's vectors make eight blocks of the stream for little more than one.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "tunnel/secret.hh"

namespace ccgym::tunnel {

class OneTimeKeys {
 public:
  explicit OneTimeKeys(const Key& session) : session_(session) {}

  // Valid until the next call.
  const Key& of(uint64_t uid);

 private:
  static constexpr uint64_t kAtOnce = 16;

  void make(uint64_t nonce);

  Key session_;
  std::array<Key, kAtOnce> keys_{};
  uint64_t nonce_{std::numeric_limits<uint64_t>::max()};  // of keys_; none has this one
};

}  // namespace ccgym::tunnel
