#include "envs/twin/path_batch.hh"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "envs/twin/telemetry.hh"

namespace ccgym {
namespace {

constexpr std::size_t kFlows = 20;

PathSpec path_of(double rate_mbps) {
  const auto schedule = Schedule::constant(rate_mbps);
  return {20, {schedule, {"droptail", 40}, 0.01}, {schedule, {}, 0}, 0.02, 3};
}

struct Rollout {
  std::vector<float> observations;
  std::vector<double> telemetry;
};

Rollout roll(std::size_t threads, int steps) {
  std::vector<PathSpec> paths;
  for (std::size_t i = 0; i < kFlows; ++i) paths.push_back(path_of(2.0 + static_cast<double>(i)));
  PathBatch batch{std::move(paths), {.policy = {}, .threads = threads}};
  Rollout out{std::vector<float>(kFlows * batch.observation_size()),
              std::vector<double>(kFlows * kTelemetry.size())};
  std::vector<int32_t> indices(kFlows);
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<uint64_t> seeds(kFlows);
  std::iota(seeds.begin(), seeds.end(), 100U);
  batch.reset(indices, seeds, out.observations);
  for (int step = 0; step < steps; ++step) {
    std::vector<float> actions(kFlows);
    for (std::size_t i = 0; i < kFlows; ++i)
      actions[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(step)) % 5);
    batch.step(actions, out.observations, out.telemetry);
  }
  return out;
}

TEST(PathBatch, TheNumberOfThreadsDoesNotChangeABit) {
  const Rollout one = roll(1, 100);
  const Rollout three = roll(3, 100);
  EXPECT_EQ(std::memcmp(one.observations.data(), three.observations.data(),
                        one.observations.size() * sizeof(float)),
            0);
  EXPECT_EQ(one.telemetry, three.telemetry);
}

TEST(PathBatch, AStepIsTenMillisecondsWhereAcksComeAndItsBytesAddUp) {
  const Rollout out = roll(1, 200);
  const double* const fast = out.telemetry.data() + (kFlows - 1) * kTelemetry.size();
  EXPECT_NEAR(fast[1], 10, 5);  // step_ms, give or take a stall
  EXPECT_GT(fast[0], 1900);     // time_ms
  EXPECT_GT(fast[7], 41);       // min_rtt_ms: two delays, two opportunities less a part of a millisecond
  EXPECT_GE(fast[9], fast[6]);  // max_rtt_ms, mean_rtt_ms
  EXPECT_GT(fast[3], 0);        // delivered_bytes
  EXPECT_DOUBLE_EQ(fast[10], 0.008 * fast[3] / fast[1]);  // throughput_mbps
}

TEST(PathBatch, LossIsAShareOfWhatWasDeliveredOrLost) {
  PathBatch batch{{path_of(2)}, {.policy = {.actions = ActionSet::window}, .threads = 1}};
  std::vector<float> observations(batch.observation_size());
  std::vector<double> telemetry(kTelemetry.size());
  batch.reset(std::vector<int32_t>{0}, std::vector<uint64_t>{1}, observations);
  int steps_with_loss = 0;
  for (int step = 0; step < 100; ++step) {
    batch.step(std::vector<float>{100}, observations, telemetry);
    const double delivered_bytes = telemetry[3], lost_bytes = telemetry[4], loss = telemetry[11];
    if (lost_bytes <= 0) {
      EXPECT_EQ(loss, 0);
    } else {
      EXPECT_DOUBLE_EQ(loss, lost_bytes / (delivered_bytes + lost_bytes));
      ++steps_with_loss;
    }
  }
  EXPECT_GT(steps_with_loss, 3);
}

TEST(PathBatch, AFlowThatWasNeverResetIsAnError) {
  PathBatch batch{{path_of(5)}, {}};
  std::vector<float> observations(batch.observation_size());
  std::vector<double> telemetry(kTelemetry.size());
  EXPECT_THROW(batch.step(std::vector<float>{2}, observations, telemetry), std::logic_error);
}

TEST(PathBatch, APathIsNotResetTwiceAtOnce) {
  PathBatch batch{{path_of(5), path_of(6)}, {}};
  std::vector<float> observations(2 * batch.observation_size());
  EXPECT_THROW(batch.reset(std::vector<int32_t>{1, 0, 1}, std::vector<uint64_t>{1, 2, 3}, observations),
               std::invalid_argument);
}

// Learners and schemes of every kind on one path: a copy continues as the original does.
TEST(PathBatch, FlowsAreCopiedMidway) {
  PathSpec path = path_of(20);
  for (const char* scheme : {"", "cubic", "bbr", "bbr3", "vivace", "copa", "", "sprout"})
    path.flows.push_back({.scheme = scheme});
  const auto go_on = [](PathBatch& batch) {
    Rollout out{std::vector<float>(batch.rows() * batch.observation_size()),
                std::vector<double>(batch.rows() * kTelemetry.size())};
    for (int step = 0; step < 100; ++step) {
      const std::vector<float> actions(batch.rows(), static_cast<float>(step * 7 % 5));
      batch.step(actions, out.observations, out.telemetry);
    }
    return out;
  };
  PathBatch batch{{path}, {}};
  std::vector<float> observations(batch.rows() * batch.observation_size());
  batch.reset(std::vector<int32_t>{0}, std::vector<uint64_t>{1}, observations);
  go_on(batch);
  const PathBatch::State state = batch.save();
  const Rollout first = go_on(batch);
  batch.restore(state);
  EXPECT_EQ(go_on(batch).telemetry, first.telemetry);
  PathBatch other{{path}, {}};
  other.restore(state);
  const Rollout second = go_on(other);
  EXPECT_EQ(second.telemetry, first.telemetry);
  EXPECT_EQ(second.observations, first.observations);
}

TEST(PathBatch, ADeadPathStillStepsOnceASecond) {
  PathSpec dead = path_of(5);
  dead.uplink.loss = 1;
  PathBatch batch{{dead}, {}};
  std::vector<float> observations(batch.observation_size());
  std::vector<double> telemetry(kTelemetry.size());
  batch.reset(std::vector<int32_t>{0}, std::vector<uint64_t>{1}, observations);
  batch.step(std::vector<float>{2}, observations, telemetry);
  EXPECT_DOUBLE_EQ(telemetry[0], 2000);
  EXPECT_DOUBLE_EQ(telemetry[6], 0);
}

TEST(WorkerPool, CallsEachOnceAndPassesOnWhatIsThrown) {
  WorkerPool pool{3};
  for (int round = 0; round < 50; ++round) {
    std::vector<int> calls(100);
    pool.for_each(calls.size(), [&](std::size_t i) { ++calls[i]; });
    ASSERT_EQ(calls, std::vector<int>(100, 1));
  }
  EXPECT_THROW(pool.for_each(10,
                             [](std::size_t i) {
                               if (i == 7) throw std::runtime_error("seven");
                             }),
               std::runtime_error);
}

}  // namespace
}  // namespace ccgym
