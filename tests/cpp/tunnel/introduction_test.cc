#include "tunnel/introduction.hh"

#include <gtest/gtest.h>

#include "deploy/endpoint/errors.hh"
#include "tests/cpp/tunnel/inner_packets.hh"
#include "tunnel/caller.hh"
#include "tunnel/doorkeeper.hh"

namespace ccgym::tunnel {
namespace {

constexpr int kMtu = 1464;

Key secret_of(unsigned char byte) {
  Key key{};
  key.fill(std::byte{byte});
  return key;
}

// Lets the caller ask until it is welcome or `rounds` are over.
void introduce(Caller& caller, Doorkeeper& doorkeeper, int rounds = 2) {
  for (int i = 0; i < rounds; ++i)
    if (const auto reply = doorkeeper.answer(caller.request(), kMtu)) caller.on_datagram(*reply);
}

TEST(Introduction, AgreesOnKeysAddressesAndMtu) {
  Caller caller{secret_of(1)};
  Doorkeeper doorkeeper{secret_of(1), kServerEnd};
  introduce(caller, doorkeeper);
  ASSERT_TRUE(caller.welcome());
  ASSERT_TRUE(doorkeeper.session_keys());
  EXPECT_EQ(caller.session_keys().client_to_server, doorkeeper.session_keys()->client_to_server);
  EXPECT_EQ(caller.session_keys().server_to_client, doorkeeper.session_keys()->server_to_client);
  EXPECT_NE(caller.session_keys().server_to_client, caller.session_keys().client_to_server);
  EXPECT_EQ(to_string(caller.addresses().local), "100.64.0.2");
  EXPECT_EQ(to_string(caller.addresses().peer), "100.64.0.1");
  EXPECT_EQ(caller.mtu(), kMtu);
}

TEST(Introduction, EverySessionHasItsOwnKeys) {
  Caller one{secret_of(1)}, two{secret_of(1)};
  Doorkeeper first{secret_of(1), kServerEnd}, second{secret_of(1), kServerEnd};
  introduce(one, first);
  introduce(two, second);
  EXPECT_NE(one.session_keys().client_to_server, two.session_keys().client_to_server);
}

TEST(Introduction, AnotherSecretIsRefusedWithTheMend) {
  Caller caller{secret_of(1)};
  Doorkeeper doorkeeper{secret_of(2), kServerEnd};
  try {
    introduce(caller, doorkeeper);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find("the same --secret-file"), std::string::npos);
  }
  EXPECT_FALSE(doorkeeper.session_keys());
}

TEST(Introduction, ASecondClientIsRefused) {
  Caller first{secret_of(1)}, second{secret_of(1)};
  Doorkeeper doorkeeper{secret_of(1), kServerEnd};
  introduce(first, doorkeeper);
  const auto keys = doorkeeper.session_keys();
  EXPECT_THROW(introduce(second, doorkeeper), InputError);
  EXPECT_EQ(doorkeeper.session_keys()->client_to_server, keys->client_to_server);
}

TEST(Introduction, AnotherVersionIsRefusedByEither) {
  const Caller caller{secret_of(1)};
  Doorkeeper doorkeeper{secret_of(1), kServerEnd};
  IntroductionBytes hello = caller.request();
  hello[4] = std::byte{kVersion + 1};
  const auto reply = doorkeeper.answer(hello, kMtu);
  ASSERT_TRUE(reply);
  EXPECT_EQ(parse_introduction(*reply)->version, kVersion);
  EXPECT_FALSE(doorkeeper.session_keys());

  Caller asking{secret_of(1)};
  auto answer = doorkeeper.answer(asking.request(), kMtu);
  (*answer)[4] = std::byte{kVersion + 1};
  EXPECT_THROW(asking.on_datagram(*answer), InputError);
}

TEST(Introduction, ACopyOfAnOldSessionOpensNothing) {
  Caller caller{secret_of(1)};
  Doorkeeper yesterday{secret_of(1), kServerEnd};
  const IntroductionBytes old_hello = caller.request();
  caller.on_datagram(*yesterday.answer(old_hello, kMtu));
  const IntroductionBytes old_confirm = caller.request();
  Doorkeeper today{secret_of(1), kServerEnd};
  today.answer(old_hello, kMtu);
  today.answer(old_confirm, kMtu);
  EXPECT_FALSE(today.session_keys());
  Caller fresh{secret_of(1)};
  introduce(fresh, today);
  EXPECT_TRUE(fresh.welcome());
}

TEST(Introduction, ALostWelcomeIsSaidAgain) {
  Caller caller{secret_of(1)};
  Doorkeeper doorkeeper{secret_of(1), kServerEnd};
  introduce(caller, doorkeeper, 1);
  doorkeeper.answer(caller.request(), kMtu);  // and the answer is lost
  EXPECT_FALSE(caller.welcome());
  introduce(caller, doorkeeper, 1);
  EXPECT_TRUE(caller.welcome());
}

TEST(Introduction, StrangersRefusalsAndForgeriesMeanNothing) {
  Caller caller{secret_of(1)};
  Caller other{secret_of(2)};
  Doorkeeper strangers{secret_of(1), kServerEnd};
  EXPECT_FALSE(caller.on_datagram(*strangers.answer(other.request(), kMtu)));  // for another nonce
  Doorkeeper doorkeeper{secret_of(1), kServerEnd};
  for (std::size_t at = 5; at < kIntroductionBytes; ++at) {
    IntroductionBytes altered = *doorkeeper.answer(caller.request(), kMtu);
    altered[at] ^= std::byte{0x80};
    EXPECT_FALSE(caller.on_datagram(altered)) << at;
  }
}

TEST(Introduction, NothingElseParses) {
  const Caller caller{secret_of(1)};
  const IntroductionBytes whole = caller.request();
  EXPECT_TRUE(parse_introduction(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_introduction(std::span{whole}.first(size))) << size;
  Doorkeeper doorkeeper{secret_of(1), kServerEnd};
  EXPECT_FALSE(doorkeeper.answer(*doorkeeper.answer(whole, kMtu), kMtu));  // a server's own is no client's
}

}  // namespace
}  // namespace ccgym::tunnel
