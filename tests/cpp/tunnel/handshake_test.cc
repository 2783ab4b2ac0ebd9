#include "tunnel/handshake.hh"

#include <gtest/gtest.h>

#include "deploy/endpoint/errors.hh"
#include "tests/cpp/tunnel/inner_packets.hh"
#include "tunnel/client_handshake.hh"
#include "tunnel/server_handshake.hh"

namespace ccgym::tunnel {
namespace {

constexpr int kMtu = 1464;

Key secret_of(unsigned char byte) {
  Key key{};
  key.fill(std::byte{byte});
  return key;
}

// Exchanges messages until the client has its welcome, for at most `rounds` rounds.
void shake_hands(ClientHandshake& client, ServerHandshake& server, int rounds = 2) {
  for (int i = 0; i < rounds; ++i)
    if (const auto reply = server.answer(client.request(), kMtu)) client.on_datagram(*reply);
}

TEST(Handshake, AgreesOnKeysAddressesAndMtu) {
  ClientHandshake client{secret_of(1)};
  ServerHandshake server{secret_of(1), kServerEnd};
  shake_hands(client, server);
  ASSERT_TRUE(client.welcome());
  ASSERT_TRUE(server.session_keys());
  EXPECT_EQ(client.session_keys().client_to_server, server.session_keys()->client_to_server);
  EXPECT_EQ(client.session_keys().server_to_client, server.session_keys()->server_to_client);
  EXPECT_NE(client.session_keys().server_to_client, client.session_keys().client_to_server);
  EXPECT_EQ(to_string(client.addresses().local), "100.64.0.2");
  EXPECT_EQ(to_string(client.addresses().peer), "100.64.0.1");
  EXPECT_EQ(client.mtu(), kMtu);
}

TEST(Handshake, EverySessionHasItsOwnKeys) {
  ClientHandshake one{secret_of(1)}, two{secret_of(1)};
  ServerHandshake first{secret_of(1), kServerEnd}, second{secret_of(1), kServerEnd};
  shake_hands(one, first);
  shake_hands(two, second);
  EXPECT_NE(one.session_keys().client_to_server, two.session_keys().client_to_server);
}

TEST(Handshake, AnotherSecretIsRefusedWithTheMend) {
  ClientHandshake client{secret_of(1)};
  ServerHandshake server{secret_of(2), kServerEnd};
  try {
    shake_hands(client, server);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find("the same --secret-file"), std::string::npos);
  }
  EXPECT_FALSE(server.session_keys());
}

TEST(Handshake, ASecondClientIsRefused) {
  ClientHandshake first{secret_of(1)}, second{secret_of(1)};
  ServerHandshake server{secret_of(1), kServerEnd};
  shake_hands(first, server);
  const auto keys = server.session_keys();
  EXPECT_THROW(shake_hands(second, server), InputError);
  EXPECT_EQ(server.session_keys()->client_to_server, keys->client_to_server);
}

TEST(Handshake, AnotherVersionIsRefusedByEither) {
  const ClientHandshake client{secret_of(1)};
  ServerHandshake server{secret_of(1), kServerEnd};
  HandshakeBytes hello = client.request();
  hello[4] = std::byte{kVersion + 1};
  const auto reply = server.answer(hello, kMtu);
  ASSERT_TRUE(reply);
  EXPECT_EQ(parse_handshake(*reply)->version, kVersion);
  EXPECT_FALSE(server.session_keys());

  ClientHandshake asking{secret_of(1)};
  auto answer = server.answer(asking.request(), kMtu);
  (*answer)[4] = std::byte{kVersion + 1};
  EXPECT_THROW(asking.on_datagram(*answer), InputError);
}

TEST(Handshake, ACopyOfAnOldSessionOpensNothing) {
  ClientHandshake client{secret_of(1)};
  ServerHandshake yesterday{secret_of(1), kServerEnd};
  const HandshakeBytes old_hello = client.request();
  client.on_datagram(*yesterday.answer(old_hello, kMtu));
  const HandshakeBytes old_confirm = client.request();
  ServerHandshake today{secret_of(1), kServerEnd};
  today.answer(old_hello, kMtu);
  today.answer(old_confirm, kMtu);
  EXPECT_FALSE(today.session_keys());
  ClientHandshake fresh{secret_of(1)};
  shake_hands(fresh, today);
  EXPECT_TRUE(fresh.welcome());
}

TEST(Handshake, ALostWelcomeIsSaidAgain) {
  ClientHandshake client{secret_of(1)};
  ServerHandshake server{secret_of(1), kServerEnd};
  shake_hands(client, server, 1);
  server.answer(client.request(), kMtu);  // and the answer is lost
  EXPECT_FALSE(client.welcome());
  shake_hands(client, server, 1);
  EXPECT_TRUE(client.welcome());
}

TEST(Handshake, StrangersRefusalsAndForgeriesMeanNothing) {
  ClientHandshake client{secret_of(1)};
  ClientHandshake other{secret_of(2)};
  ServerHandshake strangers{secret_of(1), kServerEnd};
  EXPECT_FALSE(client.on_datagram(*strangers.answer(other.request(), kMtu)));  // for another nonce
  ServerHandshake server{secret_of(1), kServerEnd};
  for (std::size_t at = 5; at < kHandshakeBytes; ++at) {
    HandshakeBytes altered = *server.answer(client.request(), kMtu);
    altered[at] ^= std::byte{0x80};
    EXPECT_FALSE(client.on_datagram(altered)) << at;
  }
}

TEST(Handshake, NothingElseParses) {
  const ClientHandshake client{secret_of(1)};
  const HandshakeBytes whole = client.request();
  EXPECT_TRUE(parse_handshake(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_handshake(std::span{whole}.first(size))) << size;
  ServerHandshake server{secret_of(1), kServerEnd};
  EXPECT_FALSE(server.answer(*server.answer(whole, kMtu), kMtu));  // a server's own is no client's
}

}  // namespace
}  // namespace ccgym::tunnel
