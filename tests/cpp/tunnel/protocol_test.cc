#include "tunnel/protocol.hh"

#include <gtest/gtest.h>

#include "tests/cpp/tunnel/inner_packets.hh"
#include "tunnel/authenticated_protocol.hh"
#include "tunnel/compatible_protocol.hh"

namespace ccgym::tunnel {
namespace {

using Bytes = std::vector<std::byte>;

Key key_of(unsigned char byte) {
  Key key{};
  key.fill(std::byte{byte});
  return key;
}

AuthenticatedProtocol client_end() { return {{key_of(1), key_of(2)}, kClientEnd, std::nullopt}; }
AuthenticatedProtocol server_end() { return {{key_of(2), key_of(1)}, kServerEnd, std::nullopt}; }

struct Datagram {
  Bytes bytes{};
  uint64_t uid{};
};

Datagram sealed(Protocol& protocol, const Bytes& packet) {
  Bytes out(packet.size() + kMaxOverheadBytes);
  const Sealed made = protocol.seal(packet, out);
  out.resize(made.bytes);
  return {out, made.uid};
}

// Opens a copy of the datagram, in a heap block of just its size: the sanitiser sees a read past its end.
struct Arrival {
  Arrival(Protocol& protocol, const Bytes& datagram) : bytes(datagram), scratch(datagram.size() + 12) {
    bytes.shrink_to_fit();
    opened = protocol.open(bytes, scratch);
  }
  Bytes packet() const { return {opened.packet.begin(), opened.packet.end()}; }

  Bytes bytes;
  Bytes scratch;
  Opened opened{};
};

Verdict verdict_on(Protocol& protocol, const Bytes& datagram) {
  return Arrival{protocol, datagram}.opened.verdict;
}

TEST(AuthenticatedProtocol, CarriesPacketsToTheBit) {
  AuthenticatedProtocol client = client_end();
  AuthenticatedProtocol server = server_end();
  for (uint64_t uid = 0; uid < 200; ++uid) {
    const Bytes packet = inner_packet(kClientEnd, 60 + uid * 7, uid, 20 + uid % 11 * 4);
    const Datagram datagram = sealed(client, packet);
    EXPECT_EQ(datagram.bytes.size(), packet.size() + kWireOverheadBytes);
    const Arrival arrival{server, datagram.bytes};
    ASSERT_EQ(arrival.opened.verdict, Verdict::packet);
    EXPECT_EQ(arrival.opened.uid, uid);
    EXPECT_EQ(arrival.packet(), packet);
  }
}

TEST(AuthenticatedProtocol, CarriesWholeWhatItCannotCutShort) {
  Bytes other_address = inner_packet(kServerEnd, 100, 1);
  Bytes wrong_checksum = inner_packet(kClientEnd, 100, 2);
  wrong_checksum[10] ^= std::byte{1};
  Bytes wrong_length = inner_packet(kClientEnd, 100, 3);
  wrong_length.push_back(std::byte{0});
  const Bytes ipv6(60, std::byte{0x60});
  const Bytes tiny(2, std::byte{0x45});
  for (const Bytes& packet : {other_address, wrong_checksum, wrong_length, ipv6, tiny}) {
    AuthenticatedProtocol client = client_end();
    AuthenticatedProtocol server = server_end();
    const Datagram datagram = sealed(client, packet);
    EXPECT_EQ(datagram.bytes.size(), packet.size() + 20);
    EXPECT_EQ((Arrival{server, datagram.bytes}.packet()), packet);
  }
}

TEST(AuthenticatedProtocol, RefusesEveryAlteredBit) {
  AuthenticatedProtocol client = client_end();
  AuthenticatedProtocol server = server_end();
  const Bytes packet = inner_packet(kClientEnd, 60, 1);
  const Datagram datagram = sealed(client, packet);
  for (std::size_t bit = 0; bit < datagram.bytes.size() * 8; ++bit) {
    Bytes altered = datagram.bytes;
    altered[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_NE(verdict_on(server, altered), Verdict::packet) << bit;
  }
  EXPECT_EQ((Arrival{server, datagram.bytes}.packet()), packet);
}

TEST(AuthenticatedProtocol, RefusesWhatWasTruncatedOrLengthened) {
  AuthenticatedProtocol client = client_end();
  AuthenticatedProtocol server = server_end();
  const Datagram datagram = sealed(client, inner_packet(kClientEnd, 60, 1));
  for (std::size_t size = 0; size < datagram.bytes.size(); ++size) {
    const Bytes truncated{datagram.bytes.begin(), datagram.bytes.begin() + static_cast<long>(size)};
    EXPECT_EQ(verdict_on(server, truncated), size < 20 ? Verdict::malformed : Verdict::altered) << size;
  }
  Bytes longer = datagram.bytes;
  longer.push_back(std::byte{0});
  EXPECT_EQ(verdict_on(server, longer), Verdict::altered);
}

TEST(AuthenticatedProtocol, RefusesReplaysAndReflections) {
  AuthenticatedProtocol client = client_end();
  AuthenticatedProtocol server = server_end();
  const Datagram first = sealed(client, inner_packet(kClientEnd, 60, 1));
  const Datagram second = sealed(client, inner_packet(kClientEnd, 60, 2));
  EXPECT_EQ(verdict_on(server, second.bytes), Verdict::packet);
  EXPECT_EQ(verdict_on(server, first.bytes), Verdict::packet);  // late is not replayed
  EXPECT_EQ(verdict_on(server, first.bytes), Verdict::replayed);
  EXPECT_EQ(verdict_on(server, second.bytes), Verdict::replayed);
  EXPECT_EQ(verdict_on(client, first.bytes), Verdict::altered);
}

TEST(AuthenticatedProtocol, KnowsTheNewestDatagram) {
  AuthenticatedProtocol client = client_end();
  AuthenticatedProtocol server = server_end();
  const Datagram first = sealed(client, inner_packet(kClientEnd, 60, 1));
  const Datagram second = sealed(client, inner_packet(kClientEnd, 60, 2));
  EXPECT_TRUE((Arrival{server, second.bytes}.opened.newest));
  EXPECT_FALSE((Arrival{server, first.bytes}.opened.newest));
}

TEST(AuthenticatedProtocol, SaysThatItLivesAndThatItEnds) {
  AuthenticatedProtocol client = client_end();
  AuthenticatedProtocol server = server_end();
  Bytes out(kMaxControlBytes);
  const std::size_t alive_bytes = client.keep_alive(out);
  const Bytes keep_alive(out.begin(), out.begin() + static_cast<long>(alive_bytes));
  EXPECT_EQ(verdict_on(server, keep_alive), Verdict::keep_alive);
  const std::size_t bye_bytes = client.bye(out);
  const Bytes bye(out.begin(), out.begin() + static_cast<long>(bye_bytes));
  EXPECT_EQ(verdict_on(server, bye), Verdict::bye);
  EXPECT_EQ(verdict_on(server, bye), Verdict::replayed);
}

TEST(CompatibleProtocol, PutsTheUidInHostOrderBeforeThePacket) {
  CompatibleProtocol client{Role::client};
  CompatibleProtocol server{Role::server};
  for (uint64_t uid = 0; uid < 300; ++uid) {
    const Bytes packet = inner_packet(kClientEnd, 60, uid);
    const Datagram datagram = sealed(client, packet);
    ASSERT_EQ(datagram.bytes.size(), packet.size() + 8);
    uint64_t written = 0;
    std::memcpy(&written, datagram.bytes.data(), sizeof written);
    EXPECT_EQ(written, uid);
    EXPECT_EQ((Arrival{server, datagram.bytes}.opened.uid), uid);
    EXPECT_EQ((Arrival{server, datagram.bytes}.packet()), packet);
  }
}

TEST(CompatibleProtocol, KnowsTheThreeWords) {
  CompatibleProtocol client{Role::client};
  CompatibleProtocol server{Role::server};
  Bytes called(8);
  EXPECT_EQ(client.keep_alive(called), 8U);
  EXPECT_EQ(called, Bytes(8, std::byte{0xff}));
  EXPECT_EQ(verdict_on(server, called), Verdict::request);
  Bytes answer(8);
  EXPECT_EQ(server.answer(called, answer), 8U);
  EXPECT_EQ(verdict_on(client, answer), Verdict::keep_alive);
  Bytes bye(8);
  EXPECT_EQ(client.bye(bye), 8U);
  EXPECT_EQ(verdict_on(server, bye), Verdict::bye);
  EXPECT_EQ(verdict_on(server, Bytes(8)), Verdict::malformed);
  EXPECT_EQ(verdict_on(server, Bytes(7)), Verdict::malformed);
  EXPECT_EQ(verdict_on(server, {}), Verdict::malformed);
}

}  // namespace
}  // namespace ccgym::tunnel
