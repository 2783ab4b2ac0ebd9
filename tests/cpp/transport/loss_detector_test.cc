#include "transport/loss_detector.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Numbers = std::vector<uint64_t>;

constexpr int64_t kBytes = 1000;
constexpr RttStats kRtt{
    .latest = milliseconds{80}, .smoothed = milliseconds{80}, .min = milliseconds{80}};  // 9/8: 90 ms

// A detector and the ring it works on, as the sender uses them.
struct Path {
  // Sends so many packets at once.
  void send(uint64_t packets, Time now = {}) {
    for (uint64_t i = 0; i < packets; ++i) {
      const auto count = static_cast<uint32_t>(i + 1);
      ring.push(losses.oldest_in_flight()) = {.sent_at = now, .inflight_packets = count};
    }
  }

  // Acknowledges these packets with one ACK; returns those that are then declared lost.
  Numbers ack(std::initializer_list<uint64_t> seqs, Time now = milliseconds{80}, const RttStats& rtt = kRtt) {
    for (const uint64_t seq : seqs) ring[seq].state = PacketState::delivered;
    losses.on_delivered(std::max(seqs));
    return detect(now, rtt);
  }

  Numbers detect(Time now, const RttStats& rtt = kRtt) {
    lost.clear();
    losses.detect(now, rtt, ring, kBytes, lost);
    return numbers_lost();
  }

  Numbers time_out() {
    lost.clear();
    losses.time_out(ring, kBytes, lost);
    return numbers_lost();
  }

  // A packet that was declared lost arrives, `age` after it was sent.
  void arrive_late(uint64_t seq, Time age, const RttStats& rtt = kRtt) {
    ring[seq].state = PacketState::delivered;
    losses.on_spurious_loss(seq, age, rtt);
    losses.on_delivered(seq);
  }

  [[nodiscard]] Numbers numbers_lost() const {
    Numbers numbers;
    for (const LostPacket& packet : lost) numbers.push_back(packet.seq);
    return numbers;
  }

  PacketRing ring{};
  LossDetector losses{};
  std::vector<LostPacket> lost{};
};

// RFC 9002, section 6.1.1: kPacketThreshold is 3.
TEST(LossDetector, APacketThreeBehindTheLargestThatArrivedIsLost) {
  Path path;
  path.send(6);
  EXPECT_EQ(path.ack({2}), Numbers{});
  EXPECT_EQ(path.ack({3}), Numbers{0});
  EXPECT_EQ(path.ack({4}), Numbers{1});
}

TEST(LossDetector, NoNumberOfPacketsThatLeftLaterMakesALossUnlessOneOfThemArrived) {
  Path path;
  path.send(50);
  EXPECT_EQ(path.ack({0}), Numbers{});
  EXPECT_EQ(path.detect(milliseconds{10'000}), Numbers{});
  EXPECT_EQ(path.losses.deadline(), Time::max());
}

// Section 6.1.2: kTimeThreshold is 9/8 of the greater of the smoothed and the latest RTT.
TEST(LossDetector, APacketNineEighthsOfARoundTripOldIsLostNotANanosecondEarlier) {
  Path path;
  path.send(2);
  EXPECT_EQ(path.ack({1}), Numbers{});
  EXPECT_EQ(path.losses.deadline(), milliseconds{90});
  EXPECT_EQ(path.detect(milliseconds{90} - nanoseconds{1}), Numbers{});
  EXPECT_EQ(path.detect(milliseconds{90}), Numbers{0});
  EXPECT_EQ(path.losses.deadline(), Time::max());
}

TEST(LossDetector, TheGreaterOfSmoothedAndLatestRttCounts) {
  for (const auto& [latest, smoothed] : {std::pair{160, 80}, std::pair{80, 160}}) {
    Path path;
    path.send(2);
    path.ack({1}, milliseconds{80}, {.latest = milliseconds{latest}, .smoothed = milliseconds{smoothed}});
    EXPECT_EQ(path.losses.deadline(), milliseconds{180}) << latest;
  }
}

// kGranularity.
TEST(LossDetector, NoRoundTripIsTooShortToWaitAMillisecond) {
  const Time rtt = std::chrono::microseconds{100};
  Path path;
  path.send(2);
  path.ack({1}, rtt, {.latest = rtt, .smoothed = rtt});
  EXPECT_EQ(path.losses.deadline(), milliseconds{1});
}

TEST(LossDetector, TheDeadlineIsThatOfTheOldestInFlight) {
  Path path;
  path.send(1);
  path.send(2, milliseconds{5});
  path.ack({2}, milliseconds{85});
  EXPECT_EQ(path.losses.deadline(), milliseconds{90});
  EXPECT_EQ(path.detect(milliseconds{90}), Numbers{0});
  EXPECT_EQ(path.losses.deadline(), milliseconds{95});
}

TEST(LossDetector, TellsOfEachLossOnceInTheOrderOfSending) {
  Path path;
  path.send(10);
  EXPECT_EQ(path.ack({1, 3, 8}), (Numbers{0, 2, 4, 5}));
  EXPECT_EQ(path.detect(milliseconds{81}), Numbers{});
  EXPECT_EQ(path.losses.oldest_in_flight(), 6U);
  EXPECT_EQ(path.ack({9}), Numbers{6});
  EXPECT_EQ(path.detect(milliseconds{90}), Numbers{7});
}

TEST(LossDetector, AnOlderPacketThatArrivesMovesNoThreshold) {
  Path path;
  path.send(6);
  path.ack({4});
  EXPECT_EQ(path.ack({2}), Numbers{});
  EXPECT_EQ(path.losses.deadline(), milliseconds{90});  // 3 is behind 4 as before
  EXPECT_EQ(path.ack({5}), Numbers{});
  EXPECT_EQ(path.losses.oldest_in_flight(), 3U);
}

TEST(LossDetector, TellsOfALostPacketWhatWasNotedWhenItLeft) {
  Path path;
  path.ring.push(0) = {.sent_at = milliseconds{7},
                       .rate_mark = {.app_limited = true},
                       .inflight_packets = 5,
                       .lost_packets = 2};
  path.send(3, milliseconds{8});
  ASSERT_EQ(path.ack({3}), Numbers{0});
  const LostPacket& packet = path.lost.front();
  EXPECT_EQ(packet.bytes, kBytes);
  EXPECT_EQ(packet.sent_at, milliseconds{7});
  EXPECT_EQ(packet.inflight_bytes_at_departure, 5 * kBytes);
  EXPECT_EQ(packet.lost_bytes_at_departure, 2 * kBytes);
  EXPECT_TRUE(packet.app_limited);
}

// Section 6.1.1: the threshold may follow the reordering that the path has shown. Packet 0 came seven late.
TEST(LossDetector, WaitsForAsManyPacketsAsOneWasLate) {
  Path path;
  path.send(40);
  EXPECT_EQ(path.ack({1, 2, 3, 4, 5, 6, 7}), Numbers{0});
  path.arrive_late(0, milliseconds{80});
  EXPECT_EQ(path.ack({9, 10, 11, 12, 13, 14, 15}), Numbers{});
  EXPECT_EQ(path.ack({16}), Numbers{8});
}

TEST(LossDetector, APacketThatWasLessLateLowersNoThreshold) {
  Path path;
  path.send(40);
  ASSERT_EQ(path.ack({1, 2, 3, 4, 5, 6, 7}), Numbers{0});
  path.arrive_late(0, milliseconds{80});
  path.ack({9});
  ASSERT_EQ(path.detect(milliseconds{90}), Numbers{8});
  path.arrive_late(8, milliseconds{90});  // one behind
  EXPECT_EQ(path.ack({11, 12, 13, 14, 15, 16, 17}, milliseconds{90}), Numbers{});
}

// Linux: net.ipv4.tcp_max_reordering.
TEST(LossDetector, WaitsForNoMoreThanThreeHundredPackets) {
  Path path;
  path.send(2000);
  ASSERT_FALSE(path.ack({1000}).empty());
  path.arrive_late(0, milliseconds{80});
  EXPECT_EQ(path.ack({1297}), Numbers{});
  EXPECT_EQ(path.ack({1298}), Numbers{998});
}

struct Late {
  const char* name;
  Time age;       // at which a packet arrives that was given up after 90 ms
  Time patience;  // with those that leave after that
};

class LossDetectorPatience : public testing::TestWithParam<Late> {};

TEST_P(LossDetectorPatience, FollowsTheAgeOfAPacketThatWasLate) {
  const auto& [name, age, patience] = GetParam();
  Path path;
  path.send(2);
  path.ack({1});
  ASSERT_EQ(path.detect(milliseconds{90}), Numbers{0});
  path.arrive_late(0, age);
  path.send(2, age);
  path.ack({3}, age + milliseconds{80});
  EXPECT_EQ(path.losses.deadline(), age + patience);
}

// Section 6.1.2: what section 6.1.1 is in packets, in time, by eighths of the round trip of 80 ms. RFC 8985,
// section 6.2: its reordering window is no more than a round trip, on top of one.
INSTANTIATE_TEST_SUITE_P(Ages, LossDetectorPatience,
                         testing::Values(Late{"BetweenTwoEighths", milliseconds{104}, milliseconds{110}},
                                         Late{"AsLongAsTheThreshold", milliseconds{90}, milliseconds{100}},
                                         Late{"NoLongerThanTwoRoundTrips", milliseconds{5000},
                                              milliseconds{160}}),
                         [](const auto& late) { return late.param.name; });

TEST(LossDetector, ATimeoutGivesUpOnceWhatIsInFlightAndNothingElse) {
  Path path;
  path.send(8);
  ASSERT_EQ(path.ack({1, 3}), Numbers{0});
  EXPECT_EQ(path.time_out(), (Numbers{2, 4, 5, 6, 7}));
  EXPECT_EQ(path.time_out(), Numbers{});
  EXPECT_EQ(path.detect(milliseconds{10'000}), Numbers{});
  EXPECT_EQ(path.losses.deadline(), Time::max());
  EXPECT_EQ(path.ring[0].state, PacketState::lost);
  EXPECT_EQ(path.ring[2].state, PacketState::timed_out);
}

// RFC 5682, section 3.1: packet 2 arrives, so that all packets sent after it are in flight again.
TEST(LossDetector, AnUndoneTimeoutBringsBackWhatLeftAfterThePacketThatArrived) {
  Path path;
  path.send(8);
  ASSERT_EQ(path.time_out().size(), 8U);
  path.ring[2].state = PacketState::delivered;
  EXPECT_EQ(path.losses.undo_timeout(2, path.ring), 5);
  EXPECT_EQ(path.losses.oldest_in_flight(), 3U);
  EXPECT_EQ(path.ring[1].state, PacketState::timed_out);
  EXPECT_EQ(path.ack({6}), Numbers{3});  // it may be lost once more; 1 is not
  EXPECT_EQ(path.time_out(), (Numbers{4, 5, 7}));
}

}  // namespace
}  // namespace ccgym
