#include "transport/wire.hh"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ccgym {
namespace {

constexpr uint64_t kFlow = 0x0123456789abcdef;

std::array<std::byte, kDataBytes> data_bytes(uint64_t seq) {
  std::array<std::byte, kDataBytes> bytes{};
  serialize(Data{kFlow, seq}, bytes);
  return bytes;
}

template <class Message>
Message parsed_as(std::span<const std::byte> bytes) {
  const auto datagram = parse(bytes);
  EXPECT_TRUE(datagram && std::holds_alternative<Message>(*datagram));
  return std::get<Message>(datagram.value());
}

TEST(Wire, CarriesEveryControlDatagram) {
  EXPECT_EQ(parsed_as<Hello>(serialize(Hello{kFlow})).flow, kFlow);
  EXPECT_EQ(parsed_as<HelloReply>(serialize(HelloReply{kFlow})).flow, kFlow);
  EXPECT_EQ(parsed_as<Bye>(serialize(Bye{kFlow})).flow, kFlow);
  EXPECT_EQ(parsed_as<ByeReply>(serialize(ByeReply{kFlow})).flow, kFlow);
}

TEST(Wire, CarriesADataPacketsSequenceNumber) {
  for (const uint64_t seq : {uint64_t{0}, uint64_t{1} << 33, ~uint64_t{0}}) {
    const Data data = parsed_as<Data>(data_bytes(seq));
    EXPECT_EQ(data.flow, kFlow);
    EXPECT_EQ(data.seq, seq);
  }
}

TEST(Wire, CarriesAnAcksFiveNumbers) {
  const Ack ack = parsed_as<Ack>(serialize(Ack{kFlow, 7, Time{1'234'567'890'123}, 9, 0xfffe}));
  EXPECT_EQ(ack.flow, kFlow);
  EXPECT_EQ(ack.seq, 7U);
  EXPECT_EQ(ack.received_at, Time{1'234'567'890'123});
  EXPECT_EQ(ack.received_packets, 9U);
  EXPECT_EQ(ack.ce_count, 0xfffeU);
  const uint64_t many = (uint64_t{1} << 48) - 1;
  EXPECT_EQ(parsed_as<Ack>(serialize(Ack{kFlow, 7, Time{1}, many, 0})).received_packets, many);
}

TEST(Wire, CarriesAHellosAndARetrysNumbers) {
  const Hello hello = parsed_as<Hello>(serialize(Hello{kFlow, 7, 9}));
  EXPECT_EQ(hello.flow, kFlow);
  EXPECT_EQ(hello.cookie, 7U);
  EXPECT_EQ(hello.proof, 9U);
  const Retry retry = parsed_as<Retry>(serialize(Retry{kFlow, 11}));
  EXPECT_EQ(retry.flow, kFlow);
  EXPECT_EQ(retry.cookie, 11U);
}

TEST(Wire, WritesNetworkByteOrder) {
  const auto bytes = serialize(Hello{kFlow});
  const std::array<unsigned, kControlBytes> expected{'c',  'c',  'g',  'm',  3,    1,    0x01,
                                                     0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
  for (std::size_t i = 0; i < kControlBytes; ++i)
    EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), expected[i]) << i;
}

TEST(Wire, ADataPacketFillsTheTunnelsMtu) {
  EXPECT_EQ(kDataBytes + 28, 1464U);  // UDP and IPv4 headers
  EXPECT_EQ(serialize(Ack{}).size(), 38U);
}

// Each length gets a heap block of its own, so that the address sanitiser sees a read past the end.
template <class Bytes>
void expect_no_other_length_parses(const Bytes& whole) {
  for (std::size_t size = 0; size <= whole.size() + 40; ++size) {
    if (size == whole.size()) continue;
    std::vector<std::byte> other(whole.begin(),
                                 whole.begin() + static_cast<long>(std::min(size, whole.size())));
    other.resize(size);
    EXPECT_FALSE(parse(other)) << size;
  }
}

TEST(Wire, RefusesEveryOtherLength) {
  expect_no_other_length_parses(serialize(Hello{kFlow}));
  expect_no_other_length_parses(serialize(Retry{kFlow, 1}));
  expect_no_other_length_parses(serialize(Bye{kFlow}));
  expect_no_other_length_parses(serialize(Ack{kFlow, 1, Time{2}, 3}));
  expect_no_other_length_parses(data_bytes(5));
}

TEST(Wire, RefusesAnotherMagicVersionOrType) {
  for (const std::size_t at : {0U, 1U, 2U, 3U, 4U, 5U}) {
    auto bytes = serialize(Hello{kFlow});
    bytes[at] ^= std::byte{0x80};
    EXPECT_FALSE(parse(bytes)) << at;
  }
  auto bytes = serialize(Hello{kFlow});
  bytes[5] = std::byte{0};
  EXPECT_FALSE(parse(bytes));
}

TEST(Wire, RefusesAReceiveTimeNoClockShows) {
  EXPECT_TRUE(parse(serialize(Ack{kFlow, 1, Time{(int64_t{1} << 62) - 1}, 1})));
  EXPECT_FALSE(parse(serialize(Ack{kFlow, 1, Time{int64_t{1} << 62}, 1})));
  EXPECT_FALSE(parse(serialize(Ack{kFlow, 1, Time{-1}, 1})));
}

// Random bytes after a valid head, so that every branch is reached.
TEST(Wire, SurvivesRandomBytesBehindARightHead) {
  std::mt19937_64 random{1};
  const auto head = serialize(Hello{kFlow});
  std::size_t parsed = 0;
  for (int round = 0; round < 20'000; ++round) {
    constexpr std::array kSizes{kControlBytes, kHelloBytes, kAckBytes, kDataBytes};
    std::vector<std::byte> bytes(random() % 4 != 0 ? kSizes.at(random() % 4) : 14 + random() % 100);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    std::copy_n(head.begin(), 5, bytes.begin());
    bytes[5] = static_cast<std::byte>(random() % 8);
    parsed += parse(bytes).has_value();
  }
  // Of 8 types: three of control, hello, retry, data, ack, of which one in four has a time that a clock
  // shows.
  constexpr double kOfASize = 0.75 / 4 + 0.25 / 100;
  constexpr double kShare = (3 * kOfASize + kOfASize + 0.25 / 100 + 0.75 / 4 + kOfASize / 4) / 8;
  EXPECT_NEAR(static_cast<double>(parsed), 20'000 * kShare, 250);
}

}  // namespace
}  // namespace ccgym
