// Several flows on one bottleneck.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "envs/twin/path_batch.hh"
#include "envs/twin/simulate.hh"
#include "envs/twin/telemetry.hh"

namespace ccgym {
namespace {

PathSpec path_of(double rate_mbps, double delay_ms, int64_t queue_packets) {
  const auto schedule = Schedule::constant(rate_mbps);
  return {delay_ms, {schedule, {"droptail", queue_packets}, 0}, {schedule, {}, 0}};
}

PathSpec with(PathSpec path, std::span<const FlowSpec> flows) {
  path.flows.assign(flows.begin(), flows.end());
  return path;
}

std::vector<FlowRecord> simulate(const PathSpec& path, std::span<const FlowSpec> flows, double seconds,
                                 uint64_t seed) {
  return simulate(with(path, flows), "", seconds, seed);
}

double share_of(const std::vector<FlowRecord>& records, std::size_t flow) {
  int64_t total = 0;
  for (const FlowRecord& record : records) total += record.delivered_packets;
  return static_cast<double>(records[flow].delivered_packets) / static_cast<double>(total);
}

TEST(SharedPath, FixedWindowsShareAsTheirSizes) {
  const auto records =
      simulate(path_of(12, 10, 500), std::array{FlowSpec{"fixed:60"}, FlowSpec{"fixed:20"}}, 20, 1);
  EXPECT_NEAR(share_of(records, 0), 0.75, 0.01);
  EXPECT_GT(records[0].delivered_packets + records[1].delivered_packets, 20 * 1000 * 0.98);
}

// 12 Mbit/s carry a packet of 1436 bytes in 0.98 ms; 20 of them fit into two windows of slow start: two round
// trips of 42 ms, and the time in which the second window leaves.
TEST(SharedPath, AFlowOfSoManyBytesEndsWithItsLastAck) {
  const auto records = simulate(path_of(12, 20, 100),
                                std::array{FlowSpec{.scheme = "reno", .traffic = {.packets = 20}}}, 10, 1);
  EXPECT_EQ(records[0].delivered_packets, 20);
  EXPECT_EQ(records[0].sent_packets, 20);
  ASSERT_EQ(records[0].completion_ms.size(), 1U);
  EXPECT_NEAR(records[0].completion_ms[0], 2 * 42 + 10, 4);
}

TEST(SharedPath, ManyShortFlowsRunAfterOneAnother) {
  std::vector<FlowSpec> flows;
  for (int i = 0; i < 100; ++i)
    flows.push_back({.scheme = "cubic", .start_s = 0.2 * i, .traffic = {.packets = 11}});
  for (const FlowRecord& record : simulate(path_of(12, 20, 100), flows, 30, 1)) {
    ASSERT_EQ(record.completion_ms.size(), 1U);
    EXPECT_NEAR(record.completion_ms[0], 42 + 43, 12);
  }
}

TEST(SharedPath, AnswersFollowOneAnotherAfterATimeOfThought) {
  const TrafficSpec traffic{.packets = 10, .mean_think = std::chrono::milliseconds{100}};
  const auto records =
      simulate(path_of(12, 20, 100), std::array{FlowSpec{.scheme = "reno", .traffic = traffic}}, 60, 1);
  // A round trip of 42 ms, ten packets of a millisecond, and 100 ms of think time: 60 / 0.152 = 395.
  EXPECT_NEAR(static_cast<double>(records[0].completion_ms.size()), 395, 50);
}

// Regression: with 5 packets offered per round trip, windows grew to thousands.
TEST(SharedPath, AWindowThatIsNotUsedDoesNotGrow) {
  const TrafficSpec traffic{.packets = 5, .mean_think = std::chrono::milliseconds{1}};
  for (const char* scheme : {"reno", "cubic", "vegas", "copa", "verus", "ledbat"}) {
    const auto records =
        simulate(path_of(100, 20, 1000), std::array{FlowSpec{.scheme = scheme, .traffic = traffic}}, 60, 1);
    EXPECT_LE(records[0].cwnd_packets.back(), 20) << scheme;
  }
}

// If the tail of a flow is lost, a probe detects the loss within a few round trips.
TEST(SharedPath, ALostTailCostsRoundTripsAndNoWindow) {
  PathSpec path = path_of(12, 20, 100);
  path.uplink.loss = 0.1;
  std::vector<double> times_ms;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const auto records =
        simulate(path, std::array{FlowSpec{.scheme = "reno", .traffic = {.packets = 10}}}, 20, seed);
    ASSERT_EQ(records[0].completion_ms.size(), 1U) << seed;
    times_ms.push_back(records[0].completion_ms[0]);
  }
  EXPECT_LT(std::accumulate(times_ms.begin(), times_ms.end(), 0.0) / 50, 250);
}

TEST(SharedPath, EveryPacketIsOneFlowsAndNoneGetsLostOnTheWay) {
  std::vector<FlowSpec> flows;
  for (const char* scheme : {"reno", "copa", "fixed:30", "reno"}) flows.push_back({scheme});
  const auto records = simulate(path_of(20, 15, 60), flows, 20, 2);
  for (const FlowRecord& record : records) {
    EXPECT_EQ(record.arrival_ms.size(), static_cast<std::size_t>(record.sent_packets));
    EXPECT_LE(record.delivered_packets + record.lost_packets, record.sent_packets);
    EXPECT_GE(static_cast<int64_t>(record.departure_ms.size()), record.delivered_packets);
    EXPECT_TRUE(std::ranges::is_sorted(record.departure_ms));
  }
}

TEST(SharedPath, AFlowSendsFromItsStartToItsStop) {
  const std::array flows{FlowSpec{"fixed:10"}, FlowSpec{"fixed:10", 2, 4, 0}};
  const auto records = simulate(path_of(12, 10, 100), flows, 6, 1);
  EXPECT_EQ(records[1].arrival_ms.front(), 2000);
  EXPECT_LT(records[1].arrival_ms.back(), 4000);
  EXPECT_GT(records[1].arrival_ms.back(), 3900);
  EXPECT_GT(records[1].cwnd_ms.front(), 2000);
  EXPECT_LE(records[1].cwnd_ms.back(), 4000);
  EXPECT_GT(records[0].arrival_ms.back(), 5900);
}

TEST(SharedPath, AFlowThatStartsLateRunsAsOneThatStartsAtOnce) {
  const auto early = simulate(path_of(12, 10, 40), std::array{FlowSpec{"copa"}}, 10, 1);
  const auto late = simulate(path_of(12, 10, 40), std::array{FlowSpec{"copa", 3, 1e9, 0}}, 13, 1);
  std::vector<double> shifted = early[0].departure_ms;
  for (double& at_ms : shifted) at_ms += 3000;
  EXPECT_EQ(late[0].departure_ms, shifted);
}

TEST(SharedPath, AnExtraDelayIsPaidEachWay) {
  const std::array near{FlowSpec{"fixed:1"}};
  const std::array far{FlowSpec{"fixed:1", 0, 1e9, 25}};
  const auto near_records = simulate(path_of(12, 10, 40), near, 20, 1);
  const auto far_records = simulate(path_of(12, 10, 40), far, 20, 1);
  // Round trips of 22 and 72 ms: two delays, and an opportunity of 1 ms each way.
  EXPECT_NEAR(static_cast<double>(near_records[0].sent_packets), 20e3 / 22, 2);
  EXPECT_NEAR(static_cast<double>(far_records[0].sent_packets), 20e3 / 72, 2);
}

TEST(SharedPath, RenoFavoursTheShorterRoundTrip) {
  const std::array flows{FlowSpec{"reno"}, FlowSpec{"reno", 0, 1e9, 60}};
  EXPECT_GT(share_of(simulate(path_of(12, 10, 40), flows, 120, 1), 0), 0.65);
}

TEST(SharedPath, AFlowWithoutASchemeRunsTheSchemeOfTheCall) {
  const std::array flows{FlowSpec{"reno"}, FlowSpec{}};
  const auto records = simulate(with(path_of(12, 10, 40), flows), "copa", 5, 1);
  const std::array named{FlowSpec{"reno"}, FlowSpec{"copa"}};
  EXPECT_EQ(records[1].departure_ms, simulate(path_of(12, 10, 40), named, 5, 1)[1].departure_ms);
}

constexpr float kStay = 2;

// A batch and the arrays it writes to.
struct Gym {
  Gym(const std::vector<FlowSpec>& flows, std::size_t paths, std::size_t threads)
      : batch(std::vector(paths, with(path_of(12, 10, 100), flows)), {.policy = {}, .threads = threads}),
        observations(batch.rows() * batch.observation_size()),
        telemetry(batch.rows() * kTelemetry.size()) {
    std::vector<int32_t> indices(paths);
    std::iota(indices.begin(), indices.end(), 0);
    std::vector<uint64_t> seeds(paths);
    std::iota(seeds.begin(), seeds.end(), 7U);
    batch.reset(indices, seeds, observations);
  }
  void step(float action = kStay) {
    batch.step(std::vector<float>(batch.rows(), action), observations, telemetry);
  }
  [[nodiscard]] std::vector<FlowState> states() const {
    std::vector<FlowState> states;
    for (std::size_t row = 0; row < batch.rows(); ++row) states.push_back(batch.state(row));
    return states;
  }
  [[nodiscard]] double told(std::size_t row, std::size_t column) const {
    return telemetry[row * kTelemetry.size() + column];
  }

  PathBatch batch;
  std::vector<float> observations;
  std::vector<double> telemetry;
};

TEST(SharedGymPath, LearnersDecideInTheSameInstants) {
  Gym gym{{{""}, {"reno"}, {"", 0.123, 1e9, 7}}, 1, 1};
  int together = 0;
  for (int step = 0; step < 200; ++step) {
    gym.step();
    const bool first = gym.batch.state(0) == FlowState::paused;
    const bool second = gym.batch.state(1) == FlowState::paused;
    ASSERT_TRUE(first || second);
    ASSERT_DOUBLE_EQ(first ? std::fmod(gym.told(0, 0), 10) : gym.told(0, 1), 0);
    ASSERT_DOUBLE_EQ(second ? std::fmod(gym.told(1, 0) + 123, 10) : gym.told(1, 1), 0);
    together += first && second ? 1 : 0;
  }
  EXPECT_GT(together, 0);
}

TEST(SharedGymPath, LearnersComeAndGo) {
  Gym gym{{{"", 0, 2, 0}, {"", 1, 3, 0}}, 1, 1};
  EXPECT_EQ(gym.states(), (std::vector{FlowState::paused, FlowState::waiting}));
  bool both = false;
  while (gym.batch.state(0) != FlowState::gone) {
    gym.step();
    both |= gym.batch.state(1) == FlowState::paused && gym.batch.state(0) == FlowState::paused;
  }
  EXPECT_TRUE(both);
  EXPECT_NEAR(gym.told(1, 0), 1000, 20);  // the other's time since its own start
  while (gym.batch.state(1) != FlowState::gone) gym.step();
  gym.step();
  EXPECT_EQ(gym.states(), (std::vector{FlowState::gone, FlowState::gone}));
  EXPECT_TRUE(std::ranges::all_of(gym.telemetry, [](double value) { return value == 0; }));
}

TEST(SharedGymPath, ALearnerThatHasSentAllGoesThoughOthersStay) {
  const FlowSpec finite{"", 0, 1e9, 0, {.packets = 30}};
  Gym gym{{finite, {"reno"}}, 1, 1};
  int steps = 0;
  for (; gym.batch.state(0) != FlowState::gone; ++steps) {
    ASSERT_LT(steps, 1000);
    gym.step();
  }
  EXPECT_GT(steps, 2);
  const double gone_ms = gym.batch.now_ms(0);
  gym.step();
  EXPECT_EQ(gym.batch.state(0), FlowState::gone);
  EXPECT_EQ(gym.batch.now_ms(0), gone_ms);
}

TEST(SharedGymPath, ALearnerThatStaysIsAFixedWindowAmongOthers) {
  Gym gym{{{""}, {"reno"}, {""}}, 1, 1};
  double delivered_bytes = 0;
  while (gym.told(0, 0) < 5000) {
    gym.step();
    delivered_bytes += gym.told(0, 3);
  }
  const std::array flows{FlowSpec{"fixed:10"}, FlowSpec{"reno"}, FlowSpec{"fixed:10"}};
  const auto records = simulate(path_of(12, 10, 100), flows, 5, 7);
  EXPECT_NEAR(delivered_bytes / 1464, static_cast<double>(records[0].delivered_packets), 12);
}

TEST(SharedGymPath, TheNumberOfThreadsDoesNotChangeABit) {
  const std::vector<FlowSpec> flows{{""}, {"copa", 0.5, 2, 3}, {"", 1, 1e9, 20}};
  Gym one{flows, 20, 1};
  Gym three{flows, 20, 3};
  for (int step = 0; step < 150; ++step) {
    one.step(static_cast<float>(step % 5));
    three.step(static_cast<float>(step % 5));
    ASSERT_EQ(one.observations, three.observations);
    ASSERT_EQ(one.telemetry, three.telemetry);
  }
}

TEST(SharedGymPath, APathNeedsALearnerAndKeepsTheirNumber) {
  EXPECT_THROW(Gym({{"reno"}}, 1, 1), std::invalid_argument);
  Gym gym{{{""}, {"reno"}}, 2, 1};
  const PathSpec path = path_of(5, 20, 50);
  gym.batch.set_path(0, with(path, std::array{FlowSpec{"copa"}, FlowSpec{}}));
  EXPECT_THROW(gym.batch.set_path(1, with(path, std::array{FlowSpec{}, FlowSpec{}})), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
