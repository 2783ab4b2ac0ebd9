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
    int admitted = 0;
    for (int i = 0; i < count; ++i) admitted += link_.push({next_seq_++, ms, 0, bytes}) ? 1 : 0;
    return admitted;
  }
  void run_through(int64_t ms) {
    while (link_.busy() && link_.next_ms() <= ms) {
      link_.use_opportunity(
          [this](const LinkPacket& packet, int64_t now_ms) { deliveries.push_back({packet.seq, now_ms}); });
    }
  }

  std::vector<Delivery> deliveries{};

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

TEST(TwinLink, DroptailTakesAsManyAsItsLimits) {
  EXPECT_EQ((Rig{{QueueKind::droptail, 10, 0}, {50}}.burst(50, 1504, 0)), 10);
  EXPECT_EQ((Rig{{QueueKind::droptail, 0, 15040}, {50}}.burst(50, 1504, 0)), 10);
  EXPECT_EQ((Rig{{QueueKind::droptail, 0, 15039}, {50}}.burst(50, 1504, 0)), 9);
  EXPECT_EQ((Rig{{QueueKind::droptail, 5, 15040}, {50}}.burst(50, 1504, 0)), 5);
}

TEST(TwinLink, ThePacketInTransmissionIsNotCounted) {
  Rig full{{QueueKind::droptail, 5, 0}, {50}};
  full.burst(5, 1504, 0);
  EXPECT_EQ(full.burst(20, 1504, 50), 1);
  Rig smaller{{QueueKind::droptail, 5, 0}, {50}};
  smaller.burst(5, 1432, 0);
  EXPECT_EQ(smaller.burst(20, 1432, 50), 2);  // one gone, one begun with the 72 bytes left over
}

}  // namespace
}  // namespace ccgym
