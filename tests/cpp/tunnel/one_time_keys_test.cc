#include "tunnel/one_time_keys.hh"

#include <gtest/gtest.h>

#include <set>

namespace ccgym::tunnel {
namespace {

Key session_key() {
  Key key{};
  key.fill(std::byte{7});
  return key;
}

template <class... Bytes>
Key key_from(Bytes... bytes) {
  return {static_cast<std::byte>(bytes)...};
}

// RFC 8439, appendix A.1, test vectors 1 and 2: the stream under a key of zeros.
TEST(OneTimeKeys, AreTheChaCha20Stream) {
  OneTimeKeys keys{Key{}};
  EXPECT_EQ(keys.of(0), key_from(0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a, 0xe5, 0x53,
                                 0x86, 0xbd, 0x28, 0xbd, 0xd2, 0x19, 0xb8, 0xa0, 0x8d, 0xed, 0x1a, 0xa8, 0x36,
                                 0xef, 0xcc, 0x8b, 0x77, 0x0d, 0xc7));
  EXPECT_EQ(keys.of(2), key_from(0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a, 0x98, 0xba, 0x97, 0x7c, 0x73,
                                 0x2d, 0x08, 0x0d, 0xcb, 0x0f, 0x29, 0xa0, 0x48, 0xe3, 0x65, 0x69, 0x12, 0xc6,
                                 0x53, 0x3e, 0x32, 0xee, 0x7a, 0xed));
}

TEST(OneTimeKeys, NoneIsUsedTwice) {
  OneTimeKeys keys{session_key()};
  std::set<Key> seen;
  for (uint64_t uid = 0; uid < 1000; ++uid) seen.insert(keys.of(uid));
  for (int bit = 10; bit < 64; ++bit) seen.insert(keys.of(uint64_t{1} << bit));
  EXPECT_EQ(seen.size(), 1054U);
}

TEST(OneTimeKeys, DoNotDependOnTheOrderOfArrival) {
  OneTimeKeys forward{session_key()};
  OneTimeKeys jumping{session_key()};
  for (uint64_t uid = 0; uid < 100; ++uid) {
    const Key key = forward.of(uid);
    jumping.of(uid * 1000 + 17);
    EXPECT_EQ(jumping.of(uid), key);
  }
}

}  // namespace
}  // namespace ccgym::tunnel
