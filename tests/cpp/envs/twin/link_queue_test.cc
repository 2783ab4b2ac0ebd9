// Expected figures: experiments with the real mm-link 0.98, and the algorithms worked by hand.
#include "envs/twin/link_queue.hh"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "envs/twin/packet_sizes.hh"

namespace ccgym {
namespace {

constexpr int32_t kFull = kOpportunityBytes;

class QueueRig {
 public:
  explicit QueueRig(const QueueSpec& spec, uint64_t seed = 1)
      : queue_(spec, {Timing::mahimahi, seed, kNsPerMs}) {}

  void arrive(int count, int64_t ms, int32_t bytes = kFull, bool ect = false) {
    for (; count > 0; --count) {
      queue_.enqueue({next_seq_++, ms * kNsPerMs, 0, bytes, {0, ect}},
                     [this](const LinkPacket& packet) { dropped.push_back(packet.seq); });
    }
  }
  void leave(int64_t ms) {
    const auto drop = [this](const LinkPacket& packet) { dropped.push_back(packet.seq); };
    if (queue_.empty()) return;
    LinkPacket packet;
    queue_.dequeue(ms * kNsPerMs, packet, drop);
    left.push_back(packet.seq);
    if (packet.label.is_marked()) marked.push_back(packet.seq);
  }
  [[nodiscard]] std::size_t waiting() const { return queue_.packets(); }

  std::vector<uint64_t> dropped{};
  std::vector<uint64_t> left{};
  std::vector<uint64_t> marked{};  // of these

 private:
  LinkQueue queue_;
  uint64_t next_seq_{0};
};

std::vector<uint64_t> from_to(uint64_t first, uint64_t last) {
  std::vector<uint64_t> seqs(last - first + 1);
  std::iota(seqs.begin(), seqs.end(), first);
  return seqs;
}

TEST(LinkQueue, DroptailKeepsTheFirstAndDropheadTheLast) {
  QueueRig tail{{.kind = "droptail", .packets = 10}};
  tail.arrive(50, 0);
  EXPECT_EQ(tail.dropped, from_to(10, 49));
  QueueRig head{{.kind = "drophead", .packets = 10}};
  head.arrive(50, 0);
  EXPECT_EQ(head.dropped, from_to(0, 39));
}

TEST(LinkQueue, ASmallerPacketMayStillFitTheBytes) {
  QueueRig rig{{.kind = "droptail", .bytes = 2000}};
  rig.arrive(2, 0);
  rig.arrive(1, 0, 496);
  EXPECT_EQ(rig.dropped, (std::vector<uint64_t>{1}));
}

TEST(LinkQueue, DropheadDropsAPacketThatExceedsTheBytesAlone) {
  QueueRig rig{{.kind = "drophead", .bytes = 1503}};
  rig.arrive(1, 0);
  EXPECT_EQ(rig.dropped, (std::vector<uint64_t>{0}));
  EXPECT_EQ(rig.waiting(), 0U);
}

TEST(LinkQueue, CoDelDeliversTheHeadAndDropsThoseBehindIt) {
  // Target 5 ms, interval 100 ms, a standing queue of 200 that came at 0, one leaves per ms: it is above the
  // target from 5 ms on, and dropping begins at 105, goes on at 205, then after 100 / sqrt(2), 100 / sqrt(3).
  QueueRig rig{{.kind = "codel", .packets = 500, .parameters = {{"target_ms", 5}, {"interval_ms", 100}}}};
  rig.arrive(400, 0);
  std::vector<int64_t> drop_ms;
  for (int64_t ms = 1; ms <= 340; ++ms) {
    const std::size_t before = rig.dropped.size();
    rig.leave(ms);
    if (rig.dropped.size() > before) drop_ms.push_back(ms);
  }
  EXPECT_EQ(drop_ms, (std::vector<int64_t>{105, 205, 275, 332}));
  EXPECT_EQ(rig.dropped.at(0), 105U);  // the 105th to leave is packet 104, and it does
  EXPECT_EQ(rig.left.at(104), 104U);
  EXPECT_EQ(rig.left.at(105), 106U);
}

TEST(LinkQueue, CoDelMarksThoseItWouldDropWhereTheirFlowsUseEcn) {
  const QueueSpec spec{
      .kind = "codel", .packets = 500, .parameters = {{"target_ms", 5}, {"interval_ms", 100}, {"ecn", 1}}};
  QueueRig rig{spec};
  rig.arrive(200, 0, kFull, /*ect=*/true);
  rig.arrive(200, 0);
  for (int64_t ms = 1; ms <= 340; ++ms) rig.leave(ms);
  EXPECT_EQ(rig.marked, (std::vector<uint64_t>{105}));             // when CoDel would drop its first
  EXPECT_EQ(rig.dropped, (std::vector<uint64_t>{205, 276, 334}));  // the second on
}

// Overload of 5 %, by packets that can be marked.
QueueRig slightly_overload_pie(double ecn) {
  QueueRig rig{{.kind = "pie",
                .packets = 1000,
                .parameters = {{"qdelay_ref_ms", 20}, {"max_burst_ms", 150}, {"ecn", ecn}}}};
  for (int64_t ms = 1; ms <= 4'000; ++ms) {
    rig.leave(ms);
    rig.arrive(ms % 20 == 0 ? 2 : 1, ms, kFull, /*ect=*/true);
  }
  return rig;
}

TEST(LinkQueue, PieMarksAsLongAsItWouldDropFew) {
  const QueueRig dropping = slightly_overload_pie(0);
  const QueueRig marking = slightly_overload_pie(1);
  EXPECT_TRUE(dropping.marked.empty());
  EXPECT_GT(marking.marked.size(), 50U);
  EXPECT_LT(marking.dropped.size(), dropping.dropped.size());
}

TEST(LinkQueue, CoDelLetsAShortQueueBe) {
  QueueRig rig{{.kind = "codel", .packets = 500, .parameters = {{"target_ms", 5}, {"interval_ms", 100}}}};
  for (int64_t ms = 0; ms < 1000; ++ms) {
    rig.arrive(1, ms);
    rig.leave(ms + 1);
  }
  EXPECT_TRUE(rig.dropped.empty());
}

struct PieRun {
  std::vector<uint64_t> dropped;
  std::size_t most_waiting;
};

PieRun overload_pie(uint64_t seed) {
  QueueRig rig{{.kind = "pie", .packets = 1000, .parameters = {{"qdelay_ref_ms", 20}, {"max_burst_ms", 150}}},
               seed};
  PieRun run{};
  for (int64_t ms = 1; ms <= 20'000; ++ms) {
    rig.leave(ms);
    rig.arrive(ms % 5 == 0 ? 2 : 1, ms);  // 20 % too much
    if (ms > 10'000) run.most_waiting = std::max(run.most_waiting, rig.waiting());
  }
  run.dropped = rig.dropped;
  return run;
}

TEST(LinkQueue, PieHoldsItsReferenceDelay) {
  const PieRun run = overload_pie(1);
  EXPECT_NEAR(static_cast<double>(run.dropped.size()), 4000, 400);  // what is too much
  EXPECT_LT(run.most_waiting, 120U);                                // of 1000; 20 ms are 20 packets
}

TEST(LinkQueue, PieDropsTheSameForTheSameSeed) {
  EXPECT_EQ(overload_pie(1).dropped, overload_pie(1).dropped);
  EXPECT_NE(overload_pie(1).dropped, overload_pie(2).dropped);
}

TEST(LinkQueue, StepMarksWhatFindsMoreThanItsThreshold) {
  QueueRig rig{{.kind = "step", .packets = 30, .parameters = {{"threshold_packets", 20}}}};
  rig.arrive(25, 0, kFull, /*ect=*/true);  // the 22nd finds 21
  rig.arrive(2, 0);                        // do not use ECN
  rig.arrive(10, 0, kFull, /*ect=*/true);  // five find room
  for (int64_t ms = 1; ms <= 30; ++ms) rig.leave(ms);
  EXPECT_EQ(rig.marked, (std::vector<uint64_t>{21, 22, 23, 24, 27, 28, 29, 30, 31}));
  EXPECT_EQ(rig.dropped, (std::vector<uint64_t>{25, 26, 32, 33, 34, 35, 36}));
}

TEST(QueueSpec, RefusesWhatMahimahiDoes) {
  EXPECT_THROW(checked({.kind = "droptail"}), std::invalid_argument);
  EXPECT_THROW(checked({.kind = "infinite", .packets = 1}), std::invalid_argument);
  EXPECT_THROW(checked({.kind = "droptail", .packets = -1}), std::invalid_argument);
  EXPECT_THROW(checked({.kind = "codel", .packets = 1, .parameters = {{"target_ms", 5}}}),
               std::invalid_argument);
  EXPECT_THROW(checked({.kind = "pie", .bytes = 1, .parameters = {{"max_burst_ms", 5}}}),
               std::invalid_argument);
  EXPECT_THROW(checked({.kind = "droptail", .packets = 1, .parameters = {{"target_ms", 5}}}),
               std::invalid_argument);
  EXPECT_THROW(checked({.kind = "fq", .packets = 1}), std::invalid_argument);
  EXPECT_THROW(checked({.kind = "red",
                        .packets = 9,
                        .parameters = {{"min_threshold_packets", 5}, {"max_threshold_packets", 5}}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
