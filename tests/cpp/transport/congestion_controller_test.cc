// The functions of the events of the interface, and of the values in them.
#include "transport/congestion_controller.hh"

#include <gtest/gtest.h>

#include <array>

#include "tests/cpp/transport/recording_controller.hh"
#include "transport/cloned.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr std::array kAcked{AckedPacket{.seq = 4, .bytes = 1000}, AckedPacket{.seq = 7, .bytes = 1000}};
constexpr std::array kLost{LostPacket{.seq = 3, .bytes = 1000}};
constexpr AckEvent kAck{.acked = kAcked, .lost = kLost, .next_seq = 10};

TEST(AckEvent, CountsItsBytes) {
  EXPECT_EQ(kAck.acked_bytes(), 2000);
  EXPECT_EQ(kAck.lost_bytes(), 1000);
  EXPECT_EQ(AckEvent{}.acked_bytes(), 0);
}

// Packets 7, 8 and 9.
TEST(AckEvent, WhatWasSentSinceTheNewestPacketCountsThatToo) {
  EXPECT_EQ(kAck.newest().seq, 7U);
  EXPECT_EQ(kAck.bytes_sent_since(), 3000);
}

TEST(AckedPacket, ArrivedWhenItsReceiverSaysOrElseWithItsAck) {
  EXPECT_EQ((AckedPacket{.received_at = Time{5}}).arrived_at(Time{9}), Time{5});
  EXPECT_EQ(AckedPacket{}.arrived_at(Time{9}), Time{9});
}

TEST(RateSample, IsWhatArrivedInTheLongerInterval) {
  const RateSample sample{
      .delivered_bytes = 5000, .interval = milliseconds{10}, .ack_interval = milliseconds{5}};
  EXPECT_DOUBLE_EQ(sample.rate().mbps(), 4);
}

TEST(Rate, BytesAndTimesAgree) {
  const Rate rate = Rate::from_mbps(8);  // a byte in a microsecond
  EXPECT_DOUBLE_EQ(rate.bytes_in(milliseconds{1}), 1000);
  EXPECT_DOUBLE_EQ(rate.ns_for(1000), 1e6);
  EXPECT_EQ(Rate::of(1000, milliseconds{1}), rate);
  EXPECT_EQ(0.5 * rate, Rate::from_mbps(4));
  EXPECT_LT(0.5 * rate, rate);
}

TEST(Cloned, EveryCopyHasAnObjectOfItsOwn) {
  Cloned<CongestionController> first{std::make_unique<RecordingController>(1000)};
  Cloned<CongestionController> second{first};
  Cloned<CongestionController> third;
  third = first;
  first->on_timer(Time{1}, {});
  EXPECT_EQ(first->metrics().front().value, 1);
  EXPECT_EQ(second->metrics().front().value, 0);
  EXPECT_EQ(third->metrics().front().value, 0);
}

TEST(Cloned, OfNothingIsNothing) {
  const Cloned<CongestionController> nothing;
  EXPECT_FALSE(nothing);
  EXPECT_FALSE(Cloned<CongestionController>{nothing});
  EXPECT_TRUE(Cloned<CongestionController>{std::make_unique<RecordingController>(1)});
}

}  // namespace
}  // namespace ccgym
