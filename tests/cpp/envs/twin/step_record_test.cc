#include "envs/twin/step_record.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "agents/policy/raw_features.hh"
#include "envs/twin/gym_path.hh"

namespace ccgym {
namespace {

constexpr std::size_t kSteps = 500;
constexpr std::size_t kSize = RawFeatures::kNames.size();
constexpr float kStay = 2;

// Drops some packets, and at times all of them for seconds.
PathSpec bad_path() {
  const auto schedule = Schedule::constant(12);
  PathSpec path{.delay_ms = 20,
                .uplink = {.schedule = schedule, .queue = {.kind = "droptail", .packets = 30}, .loss = 0.03},
                .downlink = {.schedule = schedule, .loss = 0.03}};
  path.uplink.onoff = {.mean_on_ms = 1500, .mean_off_ms = 1500};
  return path;
}

std::vector<float> column(const StepRecord& record, std::string_view name) {
  const auto place =
      std::ranges::distance(RawFeatures::kNames.begin(), std::ranges::find(RawFeatures::kNames, name));
  std::vector<float> values;
  for (auto i = static_cast<std::size_t>(place); i < record.observations.size(); i += kSize)
    values.push_back(record.observations[i]);
  return values;
}

// Of a window that stays as it is: the scheme decides nothing else.
TEST(StepRecord, HasWhatAnAgentOfTheGymSeesAndDoes) {
  const StepRecord record = record_steps(bad_path(), "fixed:10", kSteps, 600, /*seed=*/1);
  ASSERT_EQ(record.actions.size(), 2 * kSteps);
  const auto gym = make_gym_path(bad_path(), {.feature_set = FeatureSet::raw}, /*seed=*/1);
  std::vector<float> seen(kSize);
  for (std::size_t step = 0; step < kSteps; ++step) {
    gym->run_to_decisions();
    gym->observe(0, seen);
    const float* const recorded = record.observations.data() + step * kSize;
    ASSERT_EQ(std::vector<float>(recorded, recorded + kSize), seen) << step;
    ASSERT_EQ(record.actions[2 * step], 10);
    ASSERT_EQ(record.actions[2 * step + 1], kNoPacingMbps);
    gym->act(0, kStay);
  }
  EXPECT_GT(std::ranges::count(column(record, "lost_packets"), 1.0F), 10);
  EXPECT_GE(std::ranges::max(column(record, "lost_packets")), 10);  // a time-out
  EXPECT_GE(std::ranges::max(column(record, "step_ms")), 1000);     // a silence
}

}  // namespace
}  // namespace ccgym
