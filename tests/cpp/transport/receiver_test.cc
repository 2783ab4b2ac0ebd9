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

// A receiver and one peer, whose address has been validated by a cookie.
struct Heard {
  Receiver receiver{ReceiverKeys{{1, 2}, std::nullopt}};
  std::array<std::byte, 6> peer{};

  std::optional<Reply> on_datagram(Time now, std::span<const std::byte> datagram) {
    return receiver.on_datagram(now, peer, datagram);
  }
  std::array<std::byte, kHelloBytes> hello(uint64_t flow) {
    const auto retry = parse(on_datagram(Time{0}, serialize(Hello{flow})).value().bytes());
    return serialize(Hello{flow, std::get<Retry>(retry.value()).cookie});
  }
  [[nodiscard]] const ReceiverCounters& counters() const { return receiver.counters(); }
};

template <class Message>
Message reply_to(Heard& receiver, Time now, std::span<const std::byte> datagram) {
  const auto reply = receiver.on_datagram(now, datagram);
  EXPECT_TRUE(reply);
  return std::get<Message>(parse(reply.value().bytes()).value());
}

TEST(Receiver, AnswersHelloAndEachPacketOnce) {
  Heard receiver;
  EXPECT_EQ(reply_to<HelloReply>(receiver, Time{1}, receiver.hello(5)).flow, 5U);
  const Ack ack = reply_to<Ack>(receiver, Time{77}, data(5, 0));
  EXPECT_EQ(ack.flow, 5U);
  EXPECT_EQ(ack.seq, 0U);
  EXPECT_EQ(ack.received_at, Time{77});
  EXPECT_EQ(ack.received_packets, 1U);
  EXPECT_FALSE(receiver.on_datagram(Time{78}, data(5, 0)));
  EXPECT_EQ(receiver.counters().duplicates, 1U);
  EXPECT_EQ(receiver.counters().data_packets, 1U);
}

TEST(Receiver, CountsWhatComesMarkedOnce) {
  Heard heard;
  heard.on_datagram(Time{0}, heard.hello(5));
  std::vector<unsigned> counts;
  for (const auto& [seq, marked] : std::vector<std::pair<uint64_t, bool>>{{0, true}, {1, false}, {2, true}}) {
    const auto reply = heard.receiver.on_datagram(Time{1}, heard.peer, data(5, seq), marked);
    counts.push_back(std::get<Ack>(parse(reply.value().bytes()).value()).ce_count);
    EXPECT_FALSE(heard.receiver.on_datagram(Time{1}, heard.peer, data(5, seq), true));  // a copy
  }
  EXPECT_EQ(counts, (std::vector<unsigned>{1, 1, 2}));
}

TEST(Receiver, AcknowledgesReorderedPacketsAsTheyCome) {
  Heard receiver;
  receiver.on_datagram(Time{0}, receiver.hello(5));
  for (const uint64_t seq : {3U, 1U, 2U, 0U})
    EXPECT_EQ(reply_to<Ack>(receiver, Time{1}, data(5, seq)).seq, seq);
  EXPECT_EQ(receiver.counters().data_packets, 4U);
}

TEST(Receiver, RepeatsALostHelloReplyWithoutBeginningAnew) {
  Heard receiver;
  receiver.on_datagram(Time{0}, receiver.hello(5));
  receiver.on_datagram(Time{1}, data(5, 0));
  EXPECT_EQ(reply_to<HelloReply>(receiver, Time{2}, receiver.hello(5)).flow, 5U);
  EXPECT_FALSE(receiver.on_datagram(Time{3}, data(5, 0)));
}

TEST(Receiver, IgnoresAndCountsOtherFlows) {
  Heard receiver;
  EXPECT_FALSE(receiver.on_datagram(Time{0}, data(5, 0)));
  receiver.on_datagram(Time{0}, receiver.hello(5));
  EXPECT_FALSE(receiver.on_datagram(Time{1}, data(6, 0)));
  EXPECT_FALSE(receiver.on_datagram(Time{1}, receiver.hello(6)));
  EXPECT_FALSE(receiver.on_datagram(Time{1}, serialize(Bye{6})));
  EXPECT_FALSE(receiver.on_datagram(Time{1}, serialize(Ack{5, 0, Time{0}, 1})));
  EXPECT_FALSE(receiver.on_datagram(Time{1}, serialize(HelloReply{5})));
  EXPECT_EQ(receiver.counters().foreign, 6U);
  EXPECT_TRUE(receiver.receiver.in_flow());
}

TEST(Receiver, GivesWayToANewSenderOnceTheFormerIsSilent) {
  Heard receiver;
  receiver.on_datagram(Time{0}, receiver.hello(5));
  receiver.on_datagram(milliseconds{100}, data(5, 0));
  EXPECT_FALSE(receiver.on_datagram(milliseconds{5099}, receiver.hello(6)));
  EXPECT_TRUE(receiver.on_datagram(milliseconds{5100}, receiver.hello(6)));
  EXPECT_FALSE(receiver.on_datagram(milliseconds{5101}, data(5, 1)));
  EXPECT_EQ(reply_to<Ack>(receiver, milliseconds{5102}, data(6, 0)).received_packets, 1U);
}

TEST(Receiver, GoesOnWithAFlowThatWasSilentForAnHour) {
  Heard receiver;
  receiver.on_datagram(Time{0}, receiver.hello(5));
  EXPECT_EQ(reply_to<Ack>(receiver, std::chrono::hours{1}, data(5, 0)).seq, 0U);
}

TEST(Receiver, EndsAFlowAtItsByeAndStartsTheNext) {
  Heard receiver;
  receiver.on_datagram(Time{0}, receiver.hello(5));
  receiver.on_datagram(Time{0}, data(5, 0));
  EXPECT_EQ(reply_to<ByeReply>(receiver, Time{1}, serialize(Bye{5})).flow, 5U);
  EXPECT_EQ(reply_to<ByeReply>(receiver, Time{2}, serialize(Bye{5})).flow, 5U);
  EXPECT_EQ(receiver.receiver.ended_flows(), 1U);
  EXPECT_FALSE(receiver.receiver.in_flow());
  EXPECT_FALSE(receiver.on_datagram(Time{3}, receiver.hello(5)));  // a late copy raises no ghost
  EXPECT_TRUE(receiver.on_datagram(Time{4}, receiver.hello(6)));
}

TEST(Receiver, RemembersNobodyWhoHasNotShownWhereItIs) {
  Heard receiver;
  const auto first = receiver.on_datagram(Time{0}, serialize(Hello{5, 1234}));
  EXPECT_LE(first.value().bytes().size(), kHelloBytes);
  EXPECT_FALSE(receiver.receiver.in_flow());
  const auto hello = receiver.hello(5);
  receiver.peer[0] = std::byte{9};  // the cookie is another's
  EXPECT_TRUE(std::holds_alternative<Retry>(parse(receiver.on_datagram(Time{1}, hello)->bytes()).value()));
  EXPECT_FALSE(receiver.receiver.in_flow());
}

TEST(Receiver, HearsThePeerOfTheFlowOnly) {
  Heard receiver;
  receiver.on_datagram(Time{0}, receiver.hello(5));
  receiver.on_datagram(Time{0}, data(5, 0));
  receiver.peer[0] = std::byte{9};
  EXPECT_FALSE(receiver.on_datagram(Time{1}, data(5, 1)));
  EXPECT_FALSE(receiver.on_datagram(Time{1}, serialize(Bye{5})));
  EXPECT_TRUE(receiver.receiver.in_flow());
}

TEST(Receiver, AFlowWithoutDataHoldsNobodyUpAndEndsNothing) {
  Heard receiver;
  receiver.on_datagram(milliseconds{0}, receiver.hello(5));
  receiver.on_datagram(milliseconds{900}, receiver.hello(5));
  EXPECT_FALSE(receiver.on_datagram(milliseconds{999}, receiver.hello(6)));
  EXPECT_TRUE(receiver.on_datagram(milliseconds{1000}, receiver.hello(6)));
  receiver.on_datagram(milliseconds{1001}, serialize(Bye{6}));
  EXPECT_EQ(receiver.receiver.ended_flows(), 0U);
}

TEST(Receiver, WithASecretTakesOnlyWhoKnowsIt) {
  constexpr SipKey kSecret{3, 4};
  Heard receiver{.receiver = Receiver{ReceiverKeys{{1, 2}, kSecret}}};
  const auto retry =
      std::get<Retry>(parse(receiver.on_datagram(Time{0}, serialize(Hello{5})).value().bytes()).value());
  EXPECT_FALSE(receiver.on_datagram(Time{1}, serialize(Hello{5, retry.cookie})));
  const uint64_t wrong = proof_of({3, 5}, 5, retry.cookie);
  EXPECT_FALSE(receiver.on_datagram(Time{1}, serialize(Hello{5, retry.cookie, wrong})));
  const uint64_t proof = proof_of(kSecret, 5, retry.cookie);
  EXPECT_TRUE(receiver.on_datagram(Time{1}, serialize(Hello{5, retry.cookie, proof})));
}

TEST(Receiver, CountsGarbageAndNeverAnswersWithMoreThanItGot) {
  Heard receiver;
  receiver.on_datagram(Time{0}, receiver.hello(5));
  std::mt19937_64 random{3};
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::byte> bytes(random() % 2000);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    EXPECT_FALSE(receiver.on_datagram(Time{i}, bytes));
  }
  EXPECT_EQ(receiver.counters().garbage, 5000U);
  const auto hello = receiver.hello(5);
  EXPECT_LE(receiver.on_datagram(Time{1}, hello).value().bytes().size(), hello.size());
}

}  // namespace
}  // namespace ccgym
