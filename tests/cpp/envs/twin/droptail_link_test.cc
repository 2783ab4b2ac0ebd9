// DroptailLink, which computes departures on arrival, against TwinLink: the same drops, queues and
// departures.
#include "envs/twin/droptail_link.hh"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "envs/twin/link.hh"
#include "transport/random.hh"

namespace ccgym {
namespace {

constexpr int kRuns = 400;
constexpr int kPackets = 300;
constexpr int64_t kLongAfterNs = 1'000'000 * kNsPerMs;

int64_t up_to(Random& random, int64_t most) {
  return static_cast<int64_t>(random.uniform() * static_cast<double>(most + 1));
}

std::shared_ptr<const Schedule> random_schedule(Random& random) {
  if (random.chance(0.4)) return Schedule::constant(0.5 + 100 * random.uniform());
  std::vector<uint32_t> lines;
  for (int64_t at = 0; lines.size() < 50; at += up_to(random, 2)) lines.push_back(static_cast<uint32_t>(at));
  lines.push_back(lines.back() + 1);
  return Schedule::trace(lines, random.chance(0.2) ? Schedule::Ending::once : Schedule::Ending::repeats);
}

QueueSpec random_queue(Random& random) {
  if (random.chance(0.3)) return {};
  QueueSpec queue{.kind = "droptail"};
  if (random.chance(0.7)) queue.packets = 1 + up_to(random, 20);
  if (queue.packets == 0 || random.chance(0.3)) queue.bytes = 1500 + up_to(random, 20'000);
  return queue;
}

// The same packets into both, which are compared after each.
class Pair {
 public:
  explicit Pair(uint64_t seed)
      : random_(seed),
        schedule_(random_schedule(random_)),
        queue_(random_queue(random_)),
        timing_(random_.chance(0.5) ? Timing::continuous : Timing::mahimahi),
        waits_(schedule_, queue_, timing_),
        foresees_(schedule_, queue_, timing_) {}

  void run() {
    const int64_t step_ns = timing_ == Timing::mahimahi ? kNsPerMs : 317 * kNsPerUs;
    int64_t now_ns = 0;
    for (uint64_t seq = 0; seq < kPackets; ++seq) {
      now_ns += up_to(random_, 2) * step_ns;
      run_through(now_ns);
      push(seq, now_ns, 32 + up_to(random_, 1472));
      EXPECT_EQ(foresees_.queued_packets(now_ns), waits_.queued_packets());
    }
    run_through(kLongAfterNs);
    EXPECT_EQ(foreseen_ns_, departed_ns_);
  }

 private:
  void push(uint64_t seq, int64_t now_ns, int64_t bytes) {
    waits_.push({seq, now_ns, 0, bytes, 0}, [](const LinkPacket&) {});
    const int64_t left_ns = foresees_.push(now_ns, bytes);
    if (left_ns != kNeverNs) foreseen_ns_[seq] = left_ns;
  }

  void run_through(int64_t ns) {
    while (waits_.busy() && waits_.next_ns() <= ns) {
      waits_.use_opportunity(
          [this](const LinkPacket& packet, int64_t at_ns) { departed_ns_[packet.seq] = at_ns; },
          [](const LinkPacket&) {});
    }
  }

  Random random_;
  std::shared_ptr<const Schedule> schedule_;
  QueueSpec queue_;
  Timing timing_;
  TwinLink waits_;
  DroptailLink foresees_;
  std::map<uint64_t, int64_t> departed_ns_{};
  std::map<uint64_t, int64_t> foreseen_ns_{};
};

TEST(DroptailLink, DropsAndDeliversAsALinkThatWaits) {
  for (uint64_t seed = 0; seed < kRuns; ++seed) {
    SCOPED_TRACE(seed);
    Pair{seed}.run();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(DroptailLink, APacketThatFindsNoRoomLeavesNever) {
  DroptailLink link{Schedule::constant(12), {.kind = "droptail", .packets = 1}, Timing::mahimahi};
  EXPECT_EQ(link.push(0, 1504), 1 * kNsPerMs);
  EXPECT_EQ(link.push(0, 1504), kNeverNs);
  EXPECT_EQ(link.push(1 * kNsPerMs, 1504), 2 * kNsPerMs);  // the first has begun to leave
}

}  // namespace
}  // namespace ccgym
