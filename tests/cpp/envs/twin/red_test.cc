// RED, with numbers computed by hand from Floyd and Jacobson, ToN 1993, and Floyd's note on "gentle".
#include "envs/twin/queues/red.hh"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace ccgym {
namespace {

constexpr int64_t kFull = 1504;

struct Fate {
  int marked{0};
  int dropped{0};
  std::vector<int> gaps{};  // between two that were marked
};

// A queue in which `waiting` packets wait when each of `count` arrives.
Fate pass(Red& red, int waiting, int count, bool ect = true) {
  WaitingLine line{1000, 0};
  for (int i = 0; i < waiting; ++i) line.push({.bytes = kFull});
  Fate fate;
  int gap = 0;
  for (int i = 0; i < count; ++i, ++gap) {
    DroppedPackets dropped;
    LinkPacket packet{.bytes = kFull, .label = {0, ect}};
    red.enqueue(packet, line, dropped);
    fate.dropped += static_cast<int>(dropped.size());
    if (!dropped.empty()) continue;
    std::vector<LinkPacket> kept(line.packets());
    for (LinkPacket& waits : kept) line.pop(waits);
    if (kept.back().label.is_marked()) {
      ++fate.marked;
      fate.gaps.push_back(std::exchange(gap, 0));
    }
    kept.pop_back();
    for (const LinkPacket& waits : kept) line.push(waits);
  }
  return fate;
}

Red::Parameters parameters(bool ecn = true) {
  return {.min_threshold_packets = 5, .max_threshold_packets = 15, .weight = 1, .ecn = ecn};
}

TEST(Red, LetsAShortQueueBe) {
  Red red{parameters(), {}};
  const Fate fate = pass(red, 4, 1000);
  EXPECT_EQ(fate.marked + fate.dropped, 0);
}

TEST(Red, LetsAQueueBeThatHasGoneWhateverItsMean) {
  Red::Parameters slow = parameters();
  slow.weight = 1e-4;
  for (const double mean_packets : {10.0, 100.0}) {  // where some are marked, where all are dropped
    Red red{slow, {.seed = 1}};
    while (red.mean_packets() < mean_packets) pass(red, 900, 100);
    const Fate gone = pass(red, 1, 1000);
    EXPECT_EQ(gone.marked + gone.dropped, 0) << mean_packets;
    const Fate stands = pass(red, 2, 1000);
    EXPECT_GT(stands.marked + stands.dropped, 20) << mean_packets;
  }
}

// Section 7: with p_b the number of packets from one mark to the next is uniform on 1 to 1 / p_b.
TEST(Red, MarksAtUniformlyDistributedDistances) {
  Red red{parameters(), {.seed = 1}};
  const Fate fate = pass(red, 10, 40'000);  // p_b = 0.1 * (10 - 5) / (15 - 5) = 1 / 20
  EXPECT_EQ(fate.dropped, 0);
  double sum = 0;
  int most = 0;
  for (const int gap : fate.gaps) {
    sum += gap;
    most = std::max(most, gap);
  }
  EXPECT_NEAR(sum / static_cast<double>(fate.gaps.size()), (1 + 20) / 2.0, 0.3);
  EXPECT_EQ(most, 20);
}

TEST(Red, DropsWhereItMayNotMark) {
  Red red{parameters(), {.seed = 1}};
  const Fate other = pass(red, 10, 10'000, /*ect=*/false);
  EXPECT_EQ(other.marked, 0);
  EXPECT_GT(other.dropped, 800);
  Red plain{parameters(/*ecn=*/false), {.seed = 1}};
  EXPECT_EQ(pass(plain, 10, 10'000).dropped, other.dropped);
}

// From the upper threshold to twice of it the probability rises from 0.1 to 1; above, all packets are
// dropped.
TEST(Red, IsGentleBeyondItsUpperThresholdUnlessToldOtherwise) {
  Red red{parameters(), {.seed = 1}};
  const Fate fate = pass(red, 20, 10'000);  // p_b = 0.1 + 0.9 * (20 - 15) / 15 = 0.4: one in (1 + 2.5) / 2
  EXPECT_EQ(fate.dropped, 0);
  EXPECT_NEAR(fate.marked, 6000, 600);
  EXPECT_EQ(pass(red, 30, 100).dropped, 100);
  Red::Parameters abrupt = parameters();
  abrupt.gentle = false;
  Red other{abrupt, {}};
  EXPECT_EQ(pass(other, 15, 100).dropped, 100);
}

TEST(Red, TheMeanLengthFollowsByItsWeight) {
  Red::Parameters slow = parameters();
  slow.weight = 0.002;
  Red red{slow, {}};
  pass(red, 100, 500);
  EXPECT_NEAR(red.mean_packets(), 100 * (1 - std::pow(1 - 0.002, 500)), 1e-6);
}

// An idle time counts as the packets that would have left in it.
TEST(Red, TheMeanLengthFallsInIdleTimes) {
  Red::Parameters slow = parameters();
  slow.weight = 0.002;
  Red red{slow, {.ns_per_packet = 1'000'000}};
  pass(red, 100, 500);
  const double before = red.mean_packets();
  WaitingLine line{0, 0};
  DroppedPackets dropped;
  line.push({.bytes = kFull});
  LinkPacket last;
  red.dequeue(5 * kNsPerMs, line, last, dropped);
  red.enqueue({.arrival_ns = 105 * kNsPerMs, .bytes = kFull}, line, dropped);
  EXPECT_NEAR(red.mean_packets(), before * std::pow(1 - 0.002, 100), 1e-6);
}

TEST(Red, RefusesThresholdsWithoutRoomBetweenThem) {
  EXPECT_THROW(Red({.min_threshold_packets = 5, .max_threshold_packets = 5}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
