#include "transport/siphash.hh"

#include <gtest/gtest.h>

#include <array>

namespace ccgym {
namespace {

constexpr SipKey kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};  // the paper's: bytes 0 to 15

uint64_t of_first(std::size_t count) {
  std::array<std::byte, 64> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes.at(i) = static_cast<std::byte>(i);
  SipHash hash{kKey};
  hash.add(std::span{bytes}.first(count));
  return hash.finish();
}

TEST(SipHash, IsThatOfThePaper) {  // appendix A, and its authors' first vectors
  EXPECT_EQ(of_first(15), 0xa129ca6149be45e5);
  EXPECT_EQ(of_first(0), 0x726fdb47dd0e0e31);
  EXPECT_EQ(of_first(1), 0x74f839c593dc67fd);
}

TEST(SipHash, DoesNotDependOnHowItsBytesCome) {
  std::array<std::byte, 20> bytes{};
  bytes.fill(std::byte{7});
  SipHash whole{kKey};
  whole.add(bytes);
  SipHash parts{kKey};
  parts.add(std::span{bytes}.first(3));
  parts.add(std::span{bytes}.subspan(3));
  EXPECT_EQ(whole.finish(), parts.finish());
}

}  // namespace
}  // namespace ccgym
