#include "deploy/endpoint/address.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

TEST(Address, OfIpv4MappedIntoIpv6IsIpv4) {
  const Address address{"::ffff:10.0.0.1", 5001};
  EXPECT_FALSE(address.is_ipv6());
  EXPECT_EQ(address.to_string(), "10.0.0.1:5001");
}

TEST(Address, KeepsOthersAsTheyAre) {
  EXPECT_EQ(Address("localhost", 1).to_string(), "127.0.0.1:1");
  EXPECT_EQ(Address("10.0.0.1", 1).to_string(), "10.0.0.1:1");
  EXPECT_TRUE(Address("2001:db8::1", 1).is_ipv6());
  EXPECT_EQ(Address("2001:db8::1", 1).to_string(), "[2001:db8::1]:1");
}

}  // namespace
}  // namespace ccgym
