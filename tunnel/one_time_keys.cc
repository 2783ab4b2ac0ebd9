#include "tunnel/one_time_keys.hh"

#include <sodium.h>

namespace ccgym::tunnel {

const Key& OneTimeKeys::of(uint64_t uid) {
  if (nonce_ != uid / kAtOnce) make(uid / kAtOnce);
  return keys_[uid % kAtOnce];
}

void OneTimeKeys::make(uint64_t nonce) {
  std::array<unsigned char, crypto_stream_chacha20_ietf_NONCEBYTES> bytes{};
  for (std::size_t i = 0; i < 8; ++i) bytes[4 + i] = static_cast<unsigned char>(nonce >> (56 - 8 * i));
  crypto_stream_chacha20_ietf(reinterpret_cast<unsigned char*>(keys_.data()), sizeof keys_, bytes.data(),
                              reinterpret_cast<const unsigned char*>(session_.data()));
  nonce_ = nonce;
}

}  // namespace ccgym::tunnel
