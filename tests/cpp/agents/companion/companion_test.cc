#include "agents/companion/companion.hh"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/cpp/agents/companion/packet_trains.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

TEST(Companion, TheWindowStaysUntilTheFirstAck) {
  Companion companion{{.seed = 1}, 0.5};
  EXPECT_EQ(companion.window(milliseconds{10}, {}, 10, 20), 10);
}

class CompanionTest : public testing::Test {
 public:
  void on_ack(Time now, const AckEvent& ack, double cwnd_packets, bool /*may_hold*/) {  // for PacketTrains
    companion_.on_ack(now, ack, cwnd_packets);
  }

 protected:
  void ack(Time rtt, double cwnd_packets) {
    now_ += milliseconds{1};
    const std::array acked{AckedPacket{.bytes = 1000, .sent_at = now_ - rtt, .received_at = now_}};
    AckEvent event{.acked = acked,
                   .inflight_bytes = static_cast<int64_t>(companion_.limit(cwnd_packets)) * 1000};
    event.rtt = {.latest = rtt, .smoothed = smoothed_, .min = kStanding.min};
    event.rate.delivered_bytes = 64'000;  // all that arrives, 1 packet per ms, is ours
    event.rate.interval = milliseconds{64};
    companion_.on_ack(now_, event, cwnd_packets);
  }

  [[nodiscard]] bool limited() const { return companion_.limit(64) < 50; }  // an eighth less is a train
  [[nodiscard]] bool waits() { return companion_.window(now_, kStanding, 64, 20) == 64; }

  // Drains, which empty the queue, until a time of observing, at the end of which it has been seen at `rtt`.
  void observe(Time rtt) {
    bool observed = false;
    while (!observed) {
      while (!waits()) ack(kStanding.latest, 64);
      observed = !limited();
      while (waits()) ack(observed ? rtt : kStanding.min, 64);
    }
  }

  // One of the queues in turn in each round trip, of 65 ACKs.
  static Time between_probes(const std::vector<int>& queues_ms, size_t acks) {
    return kStanding.min + milliseconds{queues_ms[acks / 65 % queues_ms.size()]};
  }

  // Of trains, by which it asks for its share, beside a queue that no drain of its own but the first makes
  // fall: between the probes it is one of these in turn.
  int trains(const std::vector<int>& queues_ms) {
    constexpr size_t kFirst = 1000;  // it drains once by then, and knows too little of the queue yet
    bool in_train = false;
    int trains = 0;
    for (size_t acks = 0; acks < 60'000; ++acks) {
      const bool was_in_train = std::exchange(in_train, !limited() && companion_.limit(64) < 64);
      trains += in_train && !was_in_train ? 1 : 0;
      const Time probed = acks < kFirst ? kStanding.min : kStanding.latest;
      ack(companion_.probes() ? probed : between_probes(queues_ms, acks), 64);
    }
    return trains;
  }

  // Of a flow that has been alone for a while, in 36 round trips: a time in which it would observe twice.
  int drains_of_who_is_alone(const std::vector<int>& queues_ms) {
    constexpr size_t kLearnt = 400 * 64;  // acks
    constexpr size_t kCounted = 36 * 64;
    Time standing = kStanding.latest;
    bool drains = false;
    int begun = 0;
    for (size_t acks = 0; acks < kLearnt + kCounted; ++acks) {
      const bool drained = std::exchange(drains, limited());
      begun += drains && !drained && acks >= kLearnt ? 1 : 0;
      if (!companion_.probes()) standing = between_probes(queues_ms, acks);
      ack(limited() ? kStanding.min : standing, 64);
    }
    return begun;
  }

  // Whether a flow that has seen others drain still does once its trains have told its share.
  bool sees_others_with_share(double share) {
    companion_ = Companion{kConfig, kPreference};
    observe(milliseconds{50});
    EXPECT_TRUE(companion_.sees_others());
    constexpr int kTrains = 7;
    PacketTrains trains{2, 2 * share, now_};
    trains.idle_for(PacketTrains::kRtt);  // or a probe would be on when the next train is due
    for (int train = 0; train < kTrains; ++train) trains.send(*this);
    now_ = trains.now();
    return companion_.sees_others();
  }

  static constexpr ControllerConfig kConfig{.seed = 1};
  static constexpr double kPreference = 0.5;
  static constexpr RttStats kStanding{milliseconds{64}, milliseconds{64}, milliseconds{50}};

  Companion companion_{kConfig, kPreference};
  Time smoothed_{kStanding.smoothed};
  Time now_{std::chrono::seconds{1}};
};

TEST_F(CompanionTest, AloneTheNetworkDecides) {
  EXPECT_EQ(companion_.window(now_, kStanding, 16, 20), 20);
  observe(milliseconds{64});
  EXPECT_FALSE(companion_.sees_others());
  EXPECT_EQ(companion_.window(now_, kStanding, 16, 20), 20);
}

// 16 packets in 64 ms: 1.2 times the root of 0.25 packets per ms.
TEST_F(CompanionTest, WhoSeesOthersDrainKeepsPacketsOfItsOwnInTheQueue) {
  observe(milliseconds{50});
  EXPECT_TRUE(companion_.sees_others());
  EXPECT_DOUBLE_EQ(companion_.window(now_, kStanding, 16, 20), 20.6);
  observe(milliseconds{64});
  EXPECT_FALSE(companion_.sees_others());
}

TEST_F(CompanionTest, WhoHasTheLinkForItselfForgetsOthers) {
  EXPECT_TRUE(sees_others_with_share(0.5));
  EXPECT_FALSE(sees_others_with_share(1));
}

TEST_F(CompanionTest, ADrainLimitsTheWindowAndMakesTheNetworkWait) {
  EXPECT_FALSE(companion_.probes());
  while (!limited()) ack(kStanding.latest, 64);
  EXPECT_NEAR(companion_.limit(64), 0.85 * 50, 1e-9);
  EXPECT_TRUE(waits());
  EXPECT_TRUE(companion_.probes());
}

TEST_F(CompanionTest, AQueueThatStaysThoughItIsDrainedTellsOfARival) { EXPECT_GT(trains({14}), 0); }

TEST_F(CompanionTest, WhoWasAloneDrainsAQueueThatIsLongerThanItsOwnAndStays) {
  EXPECT_GE(drains_of_who_is_alone({21}), 4);
}

// 20 ms up to preference 0.7, and doubled 1.8 times at 1.
TEST_F(CompanionTest, ALoneFlowsOwnQueueIsLongerAtAHighPreference) {
  for (const auto& [queue_ms, least, most] : {std::tuple{65, 0, 1}, std::tuple{75, 3, 10}}) {
    companion_ = Companion{kConfig, 1};
    smoothed_ = kStanding.min + milliseconds{queue_ms};
    const int drains = drains_of_who_is_alone({queue_ms});
    EXPECT_GE(drains, least) << queue_ms;
    EXPECT_LE(drains, most) << queue_ms;
  }
}

TEST_F(CompanionTest, WhoIsAloneMostlyObserves) { EXPECT_LE(drains_of_who_is_alone({19}), 1); }

TEST_F(CompanionTest, AnUnsteadyQueueOfWhoIsAloneIsNobodysDoing) {
  EXPECT_LE(drains_of_who_is_alone({160, 80, 40, 21}), 1);
}

TEST_F(CompanionTest, AQueueThatIsUnsteadyByItselfTellsOfNobody) { EXPECT_EQ(trains({16, 8, 4}), 0); }

TEST_F(CompanionTest, WhoContestsSendsWhenAnAckComes) {
  PacketTrains trains{2, 0.5, now_};
  trains.idle_for(PacketTrains::kRtt);  // or a probe would be on when the next train is due
  for (int train = 0; train < 3; ++train) trains.send(*this);
  EXPECT_FALSE(companion_.ack_clocked());
  (void)companion_.window(trains.now(), {PacketTrains::kRtt, PacketTrains::kRtt, PacketTrains::kRtt / 2}, 64,
                          5);
  EXPECT_TRUE(companion_.sees_others());
  EXPECT_TRUE(companion_.ack_clocked());
}

// It would empty the queue for a moment, and the probe take that for what others do.
TEST_F(CompanionTest, NoTrainBeginsWhileAProbeIsOn) {
  observe(milliseconds{50});
  bool in_train = false;
  int trains = 0;
  for (int acks = 0; acks < 40'000; ++acks) {
    const bool was_probing = companion_.probes();
    const bool was_in_train = std::exchange(in_train, !limited() && companion_.limit(64) < 64);
    EXPECT_FALSE(was_probing && in_train && !was_in_train);
    trains += in_train ? 1 : 0;
    ack(was_probing && !limited() ? kStanding.min : kStanding.latest, 64);
  }
  EXPECT_GT(trains, 10);
}

}  // namespace
}  // namespace ccgym
