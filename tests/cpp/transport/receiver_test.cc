#include "transport/receiver.hh"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

std::vector<std::byte> data(uint64_t flow, uint64_t seq) {
  std::array<std::byte, kDataBytes> bytes{};
  serialize(Data{flow, seq}, bytes);
  return {bytes.begin(), bytes.end()};
}

template <class Message>
Message reply_to(Receiver& receiver, Time now, std::span<const std::byte> datagram) {
  const auto reply = receiver.on_datagram(now, datagram);
  EXPECT_TRUE(reply);
  return std::get<Message>(parse(reply.value().bytes()).value());
}

TEST(Receiver, AnswersHelloAndEachPacketOnce) {
  Receiver receiver;
  EXPECT_EQ(reply_to<HelloReply>(receiver, Time{1}, serialize(Hello{5})).flow, 5U);
  const Ack ack = reply_to<Ack>(receiver, Time{77}, data(5, 0));
  EXPECT_EQ(ack.flow, 5U);
  EXPECT_EQ(ack.seq, 0U);
  EXPECT_EQ(ack.received_at, Time{77});
  EXPECT_EQ(ack.received_packets, 1U);
  EXPECT_FALSE(receiver.on_datagram(Time{78}, data(5, 0)));
  EXPECT_EQ(receiver.counters().duplicates, 1U);
  EXPECT_EQ(receiver.counters().data_packets, 1U);
}

TEST(Receiver, AcknowledgesReorderedPacketsAsTheyCome) {
  Receiver receiver;
  receiver.on_datagram(Time{0}, serialize(Hello{5}));
  for (const uint64_t seq : {3U, 1U, 2U, 0U})
    EXPECT_EQ(reply_to<Ack>(receiver, Time{1}, data(5, seq)).seq, seq);
  EXPECT_EQ(receiver.counters().data_packets, 4U);
}

TEST(Receiver, RepeatsALostHelloReplyWithoutBeginningAnew) {
  Receiver receiver;
  receiver.on_datagram(Time{0}, serialize(Hello{5}));
  receiver.on_datagram(Time{1}, data(5, 0));
  EXPECT_EQ(reply_to<HelloReply>(receiver, Time{2}, serialize(Hello{5})).flow, 5U);
  EXPECT_FALSE(receiver.on_datagram(Time{3}, data(5, 0)));
}

TEST(Receiver, IgnoresAndCountsOtherFlows) {
  Receiver receiver;
  EXPECT_FALSE(receiver.on_datagram(Time{0}, data(5, 0)));
  receiver.on_datagram(Time{0}, serialize(Hello{5}));
  EXPECT_FALSE(receiver.on_datagram(Time{1}, data(6, 0)));
  EXPECT_FALSE(receiver.on_datagram(Time{1}, serialize(Hello{6})));
  EXPECT_FALSE(receiver.on_datagram(Time{1}, serialize(Bye{6})));
  EXPECT_FALSE(receiver.on_datagram(Time{1}, serialize(Ack{5, 0, Time{0}, 1})));
  EXPECT_FALSE(receiver.on_datagram(Time{1}, serialize(HelloReply{5})));
  EXPECT_EQ(receiver.counters().foreign, 6U);
  EXPECT_TRUE(receiver.in_flow());
}

TEST(Receiver, GivesWayToANewSenderOnceTheFormerIsSilent) {
  Receiver receiver;
  receiver.on_datagram(Time{0}, serialize(Hello{5}));
  receiver.on_datagram(milliseconds{100}, data(5, 0));
  EXPECT_FALSE(receiver.on_datagram(milliseconds{5099}, serialize(Hello{6})));
  EXPECT_TRUE(receiver.on_datagram(milliseconds{5100}, serialize(Hello{6})));
  EXPECT_FALSE(receiver.on_datagram(milliseconds{5101}, data(5, 1)));
  EXPECT_EQ(reply_to<Ack>(receiver, milliseconds{5102}, data(6, 0)).received_packets, 1U);
}

TEST(Receiver, GoesOnWithAFlowThatWasSilentForAnHour) {
  Receiver receiver;
  receiver.on_datagram(Time{0}, serialize(Hello{5}));
  EXPECT_EQ(reply_to<Ack>(receiver, std::chrono::hours{1}, data(5, 0)).seq, 0U);
}

TEST(Receiver, EndsAFlowAtItsByeAndStartsTheNext) {
  Receiver receiver;
  receiver.on_datagram(Time{0}, serialize(Hello{5}));
  EXPECT_EQ(reply_to<ByeReply>(receiver, Time{1}, serialize(Bye{5})).flow, 5U);
  EXPECT_EQ(reply_to<ByeReply>(receiver, Time{2}, serialize(Bye{5})).flow, 5U);
  EXPECT_EQ(receiver.ended_flows(), 1U);
  EXPECT_FALSE(receiver.in_flow());
  EXPECT_FALSE(receiver.on_datagram(Time{3}, serialize(Hello{5})));  // a late copy raises no ghost
  EXPECT_TRUE(receiver.on_datagram(Time{4}, serialize(Hello{6})));
}

TEST(Receiver, CountsGarbageAndNeverAnswersWithMoreThanItGot) {
  Receiver receiver;
  receiver.on_datagram(Time{0}, serialize(Hello{5}));
  std::mt19937_64 random{3};
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::byte> bytes(random() % 2000);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    EXPECT_FALSE(receiver.on_datagram(Time{i}, bytes));
  }
  EXPECT_EQ(receiver.counters().garbage, 5000U);
  const auto hello = serialize(Hello{5});
  EXPECT_LE(receiver.on_datagram(Time{1}, hello).value().bytes().size(), hello.size());
}

}  // namespace
}  // namespace ccgym
