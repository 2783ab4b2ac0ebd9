// Expected figures: experiments with the real mm-link 0.98.
#include "envs/twin/link.hh"

#include <gtest/gtest.h>

#include <vector>

namespace ccgym {
namespace {

struct Delivery {
  uint64_t seq;
  int64_t ms;
  bool operator==(const Delivery&) const = default;
};

class Rig {
 public:
  explicit Rig(const QueueSpec& queue = {}, std::vector<uint32_t> trace = {1})
      : link_(Schedule::trace(std::move(trace)), queue) {}

  int burst(int count, int32_t bytes, int64_t ms) {
    run_through(ms);
    const std::size_t dropped_before = dropped.size();
    for (int i = 0; i < count; ++i) {
      link_.push({next_seq_++, ms * kNsPerMs, 0, bytes, 0},
                 [this](const LinkPacket& packet) { dropped.push_back(packet.seq); });
    }
    return count - static_cast<int>(dropped.size() - dropped_before);
  }
  void run_through(int64_t ms) {
    while (link_.busy() && link_.next_ns() <= ms * kNsPerMs) {
      link_.use_opportunity(
          [this](const LinkPacket& packet, int64_t ns) { deliveries.push_back({packet.seq, ns / kNsPerMs}); },
          [this](const LinkPacket& packet) { dropped.push_back(packet.seq); });
    }
  }

  std::vector<Delivery> deliveries{};
  std::vector<uint64_t> dropped{};

 private:
  TwinLink link_;
  uint64_t next_seq_{0};
};

TEST(TwinLink, APacketWaitsForTheNextMillisecond) {
  Rig rig;
  rig.burst(1, 1504, 7);
  rig.run_through(20);
  EXPECT_EQ(rig.deliveries, (std::vector<Delivery>{{0, 8}}));
}

TEST(TwinLink, SmallPacketsShareAnOpportunityAndSpanTwo) {
  Rig rig;
  rig.burst(45, 132, 0);
  rig.run_through(4);
  std::vector<int> per_ms(5);
  for (const Delivery& delivery : rig.deliveries) ++per_ms.at(static_cast<std::size_t>(delivery.ms));
  EXPECT_EQ(per_ms, (std::vector<int>{0, 11, 11, 12, 11}));  // floor(1504 k / 132)
}

TEST(TwinLink, UnusedOpportunitiesAreLost) {
  Rig rig{{}, {1, 1, 1, 10}};
  rig.burst(1, 1504, 5);
  rig.run_through(30);
  EXPECT_EQ(rig.deliveries.at(0).ms, 10);
}

TEST(TwinLink, ATraceThatRunsOnceEnds) {
  TwinLink link{Schedule::trace({1, 5}, Schedule::Ending::once), {}};
  const auto push_at = [&](int64_t ms) { link.push({0, ms * kNsPerMs, 0, 1504, 0}, [](const auto&) {}); };
  push_at(0);
  push_at(2);
  push_at(2);
  int delivered = 0;
  const auto count = [&](const LinkPacket&, int64_t) { ++delivered; };
  while (link.next_ns() != kNeverNs) link.use_opportunity(count, [](const auto&) {});
  EXPECT_EQ(delivered, 2);
  EXPECT_TRUE(link.busy());
  TwinLink late{Schedule::trace({1, 5}, Schedule::Ending::once), {}};
  late.push({0, 5 * kNsPerMs, 0, 1504, 0}, [](const auto&) {});
  EXPECT_EQ(late.next_ns(), kNeverNs);
}

TEST(TwinLink, ContinuousServiceTakesExactlyTheTimeOfItsBytes) {
  TwinLink link{Schedule::constant(10), {}, Timing::continuous};
  std::vector<int64_t> left_ns;
  const auto note = [&](const LinkPacket&, int64_t ns) { left_ns.push_back(ns); };
  const auto drop = [](const LinkPacket&) {};
  link.push({0, 1'234'567, 0, 1504, 0}, drop);  // 1500 bytes at 10 Mbit/s: 1.2 ms
  link.push({1, 1'300'000, 0, 504, 0}, drop);   // 0.4 ms, behind the first
  while (link.busy()) link.use_opportunity(note, drop);
  EXPECT_EQ(left_ns, (std::vector<int64_t>{2'434'567, 2'834'567}));
}

TEST(TwinLink, DroptailTakesAsManyAsItsLimits) {
  EXPECT_EQ((Rig{{"droptail", 10}, {50}}.burst(50, 1504, 0)), 10);
  EXPECT_EQ((Rig{{"droptail", 0, 15040}, {50}}.burst(50, 1504, 0)), 10);
  EXPECT_EQ((Rig{{"droptail", 0, 15039}, {50}}.burst(50, 1504, 0)), 9);
  EXPECT_EQ((Rig{{"droptail", 5, 15040}, {50}}.burst(50, 1504, 0)), 5);
}

TEST(TwinLink, ThePacketInTransmissionIsNotCounted) {
  Rig full{{"droptail", 5}, {50}};
  full.burst(5, 1504, 0);
  EXPECT_EQ(full.burst(20, 1504, 50), 1);
  Rig smaller{{"droptail", 5}, {50}};
  smaller.burst(5, 1432, 0);
  EXPECT_EQ(smaller.burst(20, 1432, 50), 2);  // one gone, one begun with the 72 bytes left over
}

}  // namespace
}  // namespace ccgym
