// Properties of every link: seeded random runs over all kinds of queues.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include "envs/twin/link.hh"
#include "transport/random.hh"

namespace ccgym {
namespace {

constexpr int kRuns = 300;
constexpr int kPackets = 400;

int64_t up_to(Random& random, int64_t most) {
  return static_cast<int64_t>(random.uniform() * static_cast<double>(most + 1));
}

QueueSpec random_queue(Random& random) {
  const std::vector<QueueKind> kinds = known_queues();
  const QueueKind& kind = kinds[static_cast<std::size_t>(up_to(random, std::ssize(kinds) - 1))];
  QueueSpec queue{.kind = std::string{kind.name}};
  if (queue.kind == "infinite") return queue;
  queue.packets = up_to(random, 1) * (1 + up_to(random, 40));
  queue.bytes = queue.packets == 0 || random.chance(0.5) ? 1 + up_to(random, 40'000) : 0;
  for (const QueueKey& key : kind.keys) {
    const auto most = static_cast<int64_t>(std::min(key.least + 30, key.most));
    queue.parameters.emplace_back(key.name, std::max(key.least, static_cast<double>(up_to(random, most))));
  }
  if (queue.kind == "red") queue.parameters[1].second += queue.parameters[0].second;  // the upper threshold
  return checked(queue);
}

std::shared_ptr<const Schedule> random_schedule(Random& random) {
  if (random.chance(0.4)) return Schedule::constant(0.1 + 100 * random.uniform());
  std::vector<uint32_t> lines;
  for (int64_t at = 0; lines.size() < 50; at += up_to(random, 3)) lines.push_back(static_cast<uint32_t>(at));
  lines.push_back(lines.back() + 1);
  return Schedule::trace(lines, random.chance(0.2) ? Schedule::Ending::once : Schedule::Ending::repeats);
}

// Sends random packets, and checks the properties after each event.
class RandomRun {
 public:
  explicit RandomRun(uint64_t seed)
      : random_(seed),
        queue_(random_queue(random_)),
        link_(random_schedule(random_), queue_, random_.chance(0.5) ? Timing::continuous : Timing::mahimahi,
              seed) {}

  void run() {
    int64_t now_ns = 0;
    for (int i = 0; i < kPackets; ++i) {
      now_ns += up_to(random_, 3) * kNsPerMs;
      run_through(now_ns);
      const auto bytes = static_cast<int32_t>(32 + up_to(random_, 1472));
      link_.push({static_cast<uint64_t>(i), now_ns, 0, bytes, 0},
                 [this](const LinkPacket& packet) { drop(packet); });
      check_limits();
    }
    run_through(now_ns + 100 * kNsPerMs);
    check_conservation();
  }

 private:
  void drop(const LinkPacket& packet) { EXPECT_TRUE(gone_.insert(packet.seq).second) << "twice"; }

  void run_through(int64_t ns) {
    while (link_.busy() && link_.next_ns() <= ns) {
      link_.use_opportunity(
          [this](const LinkPacket& packet, int64_t at_ns) { check_delivery(packet, at_ns); },
          [this](const LinkPacket& packet) { drop(packet); });
    }
  }

  void check_delivery(const LinkPacket& packet, int64_t at_ns) {
    EXPECT_TRUE(gone_.insert(packet.seq).second) << "twice";
    EXPECT_TRUE(delivered_ == 0 || packet.seq > last_seq_) << "reordered";
    EXPECT_GT(at_ns, packet.arrival_ns);
    EXPECT_GE(at_ns, last_ns_);
    last_seq_ = packet.seq;
    last_ns_ = at_ns;
    ++delivered_;
  }

  void check_limits() {
    if (queue_.packets > 0) {
      EXPECT_LE(static_cast<int64_t>(link_.queued_packets()), queue_.packets);
    }
    if (queue_.bytes > 0) {
      EXPECT_LE(link_.queued_bytes(), queue_.bytes);
    }
  }

  void check_conservation() {
    const std::size_t inside = link_.queued_packets() + (link_.transmitting() ? 1 : 0);
    EXPECT_EQ(gone_.size() + inside, static_cast<std::size_t>(kPackets));
    if (queue_.kind == "infinite") {
      EXPECT_EQ(gone_.size(), delivered_);
    }
  }

  Random random_;
  QueueSpec queue_;
  TwinLink link_;
  std::set<uint64_t> gone_{};
  std::size_t delivered_{0};
  uint64_t last_seq_{0};
  int64_t last_ns_{0};
};

TEST(LinkProperties, ConservesOrdersAndKeepsItsLimits) {
  for (uint64_t seed = 0; seed < kRuns; ++seed) {
    SCOPED_TRACE(seed);
    RandomRun{seed}.run();
    if (HasFailure()) return;
  }
}

TEST(LinkProperties, ATraceIsTakenOrRefusedWhateverItsNumbers) {
  int taken = 0;
  for (uint64_t seed = 0; seed < kRuns; ++seed) {
    Random random{seed};
    std::vector<uint32_t> lines(static_cast<std::size_t>(up_to(random, 6)));
    const int64_t most = random.chance(0.5) ? 3 : UINT32_MAX;
    for (uint32_t& line : lines) line = static_cast<uint32_t>(up_to(random, most));
    if (random.chance(0.7)) std::ranges::sort(lines);
    const bool right = !lines.empty() && std::ranges::is_sorted(lines) && lines.back() > 0;
    if (!right) {
      EXPECT_THROW(Schedule::trace(lines), std::invalid_argument);
      continue;
    }
    ++taken;
    OpportunityCursor cursor{Schedule::trace(lines)};
    for (int64_t before = 0, i = 0; i < 20; ++i, cursor.advance()) {
      EXPECT_GE(cursor.next_ns(), before);
      before = cursor.next_ns();
      if (i % 5 == 4) cursor.skip_through(before + up_to(random, most) * kNsPerMs);
    }
  }
  EXPECT_GT(taken, kRuns / 3);
}

}  // namespace
}  // namespace ccgym
