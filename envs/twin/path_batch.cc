#include "envs/twin/path_batch.hh"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "envs/twin/telemetry.hh"

namespace ccgym {

namespace {

std::vector<std::size_t> first_rows_of(const std::vector<PathSpec>& paths) {
  std::vector<std::size_t> rows{0};
  for (const PathSpec& path : paths) {
    const std::size_t learners = count_learners(flows_of(path));
    if (learners == 0) {
      throw std::invalid_argument("path " + std::to_string(rows.size() - 1) +
                                  " has no learner: no flow without a scheme");
    }
    rows.push_back(rows.back() + learners);
  }
  return rows;
}

// A path may be reset only once per call, because two threads would do so at the same time.
void check_distinct(std::span<const int32_t> paths) {
  std::vector<int32_t> sorted{paths.begin(), paths.end()};
  std::ranges::sort(sorted);
  const auto repeated = std::ranges::adjacent_find(sorted);
  if (repeated == sorted.end()) return;
  throw std::invalid_argument("path " + std::to_string(*repeated) + " is to be reset twice at once");
}

}  // namespace

PathBatch::PathBatch(std::vector<PathSpec> paths, const BatchSpec& spec)
    : policy_(spec.policy),
      observation_size_(feature_divisors(policy_.feature_set).size()),
      action_width_(action_size(policy_.actions)),
      paths_(std::move(paths)),
      first_rows_(first_rows_of(paths_)),
      gym_paths_(paths_.size()),
      workers_(spec.threads) {}

void PathBatch::set_path(std::size_t path, PathSpec spec) {
  if (path >= paths_.size())
    throw std::out_of_range("path " + std::to_string(path) + " is not within the batch");
  const std::size_t learners = first_rows_[path + 1] - first_rows_[path];
  const std::size_t given = count_learners(flows_of(spec));
  if (given != learners) {
    throw std::invalid_argument("path " + std::to_string(path) + " has " + std::to_string(learners) +
                                " learners in this batch, not " + std::to_string(given));
  }
  paths_[path] = std::move(spec);
}

PathBatch::Slot PathBatch::slot(std::size_t row) const {
  if (row >= rows()) throw std::out_of_range("row " + std::to_string(row) + " is not within the batch");
  if (rows() == paths()) return {row, 0};  // one learner on each path
  const auto next = std::ranges::upper_bound(first_rows_, row);
  const auto path = static_cast<std::size_t>(std::distance(first_rows_.begin(), next)) - 1;
  return {path, row - first_rows_[path]};
}

void PathBatch::set_cwnd(std::size_t row, double cwnd_packets) {
  const auto [path, learner] = slot(row);
  if (!gym_paths_[path]) throw std::logic_error("path " + std::to_string(path) + " was never reset");
  gym_paths_[path]->set_cwnd(learner, cwnd_packets);
}

double PathBatch::cwnd_packets(std::size_t row) const {
  const auto [path, learner] = slot(row);
  return gym_paths_[path] ? gym_paths_[path]->cwnd_packets(learner) : 0;
}

double PathBatch::now_ms(std::size_t row) const {
  const auto& gym_path = gym_paths_[slot(row).path];
  return gym_path ? gym_path->now_ms() : 0;
}

Act PathBatch::act_of(std::size_t row, std::span<const float> actions) const {
  if (action_width() == 1) return actions[row];
  return {actions[2 * row], actions[2 * row + 1]};
}

FlowState PathBatch::state(std::size_t row) const {
  const auto [path, learner] = slot(row);
  return gym_paths_[path] ? gym_paths_[path]->state(learner) : FlowState::waiting;
}

void PathBatch::reset(std::span<const int32_t> paths, std::span<const uint64_t> seeds,
                      std::span<float> observations) {
  check_distinct(paths);
  const std::size_t width = observation_size();
  workers_.for_each(paths.size(), [&](std::size_t i) {
    const auto path = static_cast<std::size_t>(paths[i]);
    gym_paths_.at(path) = make_gym_path(paths_[path], policy_, seeds[i]);
    GymPath& gym_path = *gym_paths_[path];
    gym_path.run_to_decisions();
    for (std::size_t row = first_rows_[path]; row < first_rows_[path + 1]; ++row) {
      const std::size_t learner = row - first_rows_[path];
      const auto observation = observations.subspan(row * width, width);
      std::ranges::fill(observation, 0.0F);
      if (gym_path.state(learner) != FlowState::paused) continue;
      gym_path.observe(learner, observation);
      std::array<double, kTelemetry.size()> unused{};
      gym_path.measure(learner, unused);
    }
  });
}

PathBatch::State PathBatch::save() const {
  State state;
  for (const std::unique_ptr<GymPath>& gym_path : gym_paths_)
    state.push_back(gym_path ? std::shared_ptr<const GymPath>{gym_path->clone()} : nullptr);
  return state;
}

void PathBatch::restore(const State& state) {
  if (state.size() != gym_paths_.size()) {
    throw std::invalid_argument("a state of " + std::to_string(state.size()) + " paths, not of " +
                                std::to_string(gym_paths_.size()));
  }
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (state[i] && (state[i]->learners() != first_rows_[i + 1] - first_rows_[i] ||
                     state[i]->observation_size() != observation_size()))
      throw std::invalid_argument("a state of a batch with other learners or features");
  }
  for (std::size_t i = 0; i < state.size(); ++i) gym_paths_[i] = state[i] ? state[i]->clone() : nullptr;
}

void PathBatch::step(std::span<const float> actions, std::span<float> observations,
                     std::span<double> telemetry) {
  workers_.for_each(paths(), [&](std::size_t path) { step_path(path, actions, observations, telemetry); });
}

void PathBatch::step_path(std::size_t path, std::span<const float> actions, std::span<float> observations,
                          std::span<double> telemetry) {
  if (!gym_paths_[path])
    throw std::logic_error("path " + std::to_string(path) + " of the batch was never reset");
  GymPath& gym_path = *gym_paths_[path];
  const std::size_t first = first_rows_[path];
  const std::size_t learners = first_rows_[path + 1] - first;
  const std::size_t width = observation_size();
  for (std::size_t i = 0; i < learners; ++i) {
    if (gym_path.state(i) == FlowState::paused) gym_path.act(i, act_of(first + i, actions));
  }
  gym_path.run_to_decisions();
  for (std::size_t i = 0; i < learners; ++i) {
    const auto measured = telemetry.subspan((first + i) * kTelemetry.size(), kTelemetry.size());
    if (gym_path.state(i) == FlowState::paused) {
      gym_path.observe(i, observations.subspan((first + i) * width, width));
      gym_path.measure(i, measured);
    } else {
      std::ranges::fill(measured, 0.0);
    }
  }
}

}  // namespace ccgym
