#include "agents/companion/shared_queue.hh"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/cpp/agents/companion/packet_trains.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kBytes = 1000;
constexpr Time kLong = std::chrono::seconds{1};  // since the decision before: many round trips
constexpr RttStats kRtt{milliseconds{100}, milliseconds{100}, milliseconds{90}};

class SharedQueueTest : public testing::Test {
 protected:
  // Delivered in the round trip that ends now.
  void deliver(int64_t packets) {
    const std::array acked{AckedPacket{.bytes = kBytes}};
    const RateSample rate{.delivered_bytes = packets * kBytes, .interval = milliseconds{100}};
    queue_.on_ack({.acked = acked, .rtt = kRtt, .rate = rate});
  }

  // Trains over a link of 2 packets per ms, of which we have `share`.
  void measure(double share) {
    PacketTrains trains{2, 2 * share};
    for (int train = 0; train < 6; ++train) trains.send(link_share_);
  }

  double window(double cwnd_packets, double wanted_packets) {
    return queue_.window(kLong, kRtt, cwnd_packets, wanted_packets, link_share_, {});
  }

  SharedQueue queue_{};
  LinkShare link_share_{};
  Time now_{std::chrono::seconds{1}};
};

// A packet per ms: 90 of the path, and 3 x 1.2 in the queue.
TEST_F(SharedQueueTest, KeepsNotManyMorePacketsThanItsOwn) {
  deliver(100);
  EXPECT_NEAR(window(100, 105), 93.6, 1e-9);
}

// 5 x 1.2.
TEST_F(SharedQueueTest, WhoHasItsPartOfTheLinkKeepsMore) {
  deliver(100);
  measure(0.35);
  EXPECT_NEAR(window(100, 105), 96, 1e-9);
}

// 1.3 x 1.2.
TEST_F(SharedQueueTest, WhoHasMoreThanHalfOfTheLinkKeepsFewer) {
  deliver(100);
  measure(0.6);
  EXPECT_NEAR(window(100, 105), 91.56, 1e-9);
}

TEST_F(SharedQueueTest, AddsItsOwnToAWindowThatLeavesNoQueue) {
  deliver(100);
  EXPECT_NEAR(window(100, 90), 91.2, 1e-9);
}

// 16 packets per ms: four times as many, not sixteen.
TEST_F(SharedQueueTest, AFastFlowKeepsFewerPerRate) {
  deliver(1600);
  EXPECT_NEAR(window(1600, 1440), 1440 + 4 * 1.2, 1e-9);
}

TEST_F(SharedQueueTest, ANetworkThatWantsFarMoreHasSeenRoom) {
  deliver(100);
  EXPECT_NEAR(window(100, 130), 131.2, 1e-9);
}

// A packet per ms: 10 more.
TEST_F(SharedQueueTest, LeavesRoomForAHostThatStalls) {
  deliver(100);
  EXPECT_NEAR(queue_.window(kLong, kRtt, 100, 110, link_share_, milliseconds{10}), 103.6, 1e-9);
}

TEST_F(SharedQueueTest, WhoHasItsShareOfTheLinkIsBoundWhateverTheNetworkWants) {
  deliver(100);
  measure(0.45);
  EXPECT_NEAR(window(100, 130), 96, 1e-9);
}

TEST_F(SharedQueueTest, WhoHasLessOrTheLinkAloneGetsWhatItsNetworkSeesRoomFor) {
  for (const double share : {0.2, 1.0}) {
    deliver(100);
    link_share_ = {};
    measure(share);
    EXPECT_NEAR(window(100, 130), 131.2, 1e-9);
  }
}

// 1.5 times the bound, 10 of the path, one for the link's clock and 3 x 1.2 x the root of 5 in the queue.
TEST_F(SharedQueueTest, ASmallShareOfAShortPathGoesNotFarBeforeTheBound) {
  const RttStats rtt{milliseconds{20}, milliseconds{20}, milliseconds{10}};
  const auto wide = [&] { return queue_.window(kLong, rtt, 100, 130, link_share_, {}); };
  deliver(100);
  EXPECT_NEAR(wide(), 130 + 1.2 * std::sqrt(5), 1e-9);
  measure(0.2);
  EXPECT_NEAR(wide(), 1.5 * (11 + 3 * 1.2 * std::sqrt(5)), 1e-9);
}

// Of 100 packets 1 is in the queue.
TEST_F(SharedQueueTest, WhoHasItsShareButNotItsPacketsInTheQueueGetsWhatItsNetworkSeesRoomFor) {
  deliver(100);
  measure(0.45);
  const RttStats rtt{milliseconds{100}, milliseconds{100}, milliseconds{99}};
  EXPECT_NEAR(queue_.window(kLong, rtt, 100, 130, link_share_, {}), 115.6, 1e-9);  // half of the way to 131.2
}

// From 100 to 131.2 and from 100 to 96, in round trips of 100 ms.
TEST_F(SharedQueueTest, WhoHasItsPartGoesAPartOfTheWayInARoundTrip) {
  deliver(100);
  measure(0.35);
  const auto after = [&](int ms, double wanted_packets) {
    return queue_.window(milliseconds{ms}, kRtt, 100, wanted_packets, link_share_, {});
  };
  EXPECT_NEAR(after(10, 130), 101.56, 1e-9);
  EXPECT_NEAR(after(100, 130), 115.6, 1e-9);
  EXPECT_NEAR(after(300, 130), 115.6, 1e-9);
  EXPECT_NEAR(after(10, 105), 99.4, 1e-9);
  EXPECT_NEAR(after(100, 105), 96, 1e-9);
}

TEST_F(SharedQueueTest, WhoHasNoPartYetOrTheLinkAloneGoesAllOfIt) {
  for (const double share : {0.2, 1.0}) {
    deliver(100);
    link_share_ = {};
    measure(share);
    EXPECT_NEAR(queue_.window(milliseconds{10}, kRtt, 100, 130, link_share_, {}), 131.2, 1e-9);
  }
}

TEST_F(SharedQueueTest, OnALinkWhoseRateVariesTheNetworkDecides) {
  deliver(100);
  for (const double packets_per_ms : {2.0, 2.0, 6.0, 0.5, 6.0, 0.5}) {
    PacketTrains trains{packets_per_ms, 1, now_};
    trains.send(link_share_);
    now_ = trains.now();
  }
  EXPECT_EQ(window(100, 130), 130);
  EXPECT_EQ(window(100, 90), 90);
}

TEST_F(SharedQueueTest, BoundsNothingBeforeTheFirstMeasurement) {
  EXPECT_NEAR(window(100, 105), 106.2, 1e-9);
}

}  // namespace
}  // namespace ccgym
