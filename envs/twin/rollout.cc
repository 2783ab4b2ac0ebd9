#include "envs/twin/rollout.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "agents/policy/action_sets.hh"
#include "envs/twin/gym_path.hh"

namespace ccgym {

namespace {

class Rollout {
 public:
  Rollout(const PathSpec& path, const PolicySpec& policy, const PolicyNetwork& network, uint64_t seed,
          const RolloutPlan& plan, const RolloutRecord& record)
      : actions_(policy.actions),
        plan_(plan),
        record_(record),
        gym_path_(make_gym_path(path, policy, seed)),
        learners_(count_learners(flows_of(path))),
        width_(feature_divisors(policy.feature_set).size()),
        ideal_steps_(plan.ideal_packets.size() / learners_) {
    for (std::size_t i = 0; i < learners_; ++i) networks_.push_back(network.clone());
  }

  void run() {
    for (std::size_t decision = 0; decision < plan_.decisions; ++decision) {
      gym_path_->run_to_decisions();
      for (std::size_t learner = 0; learner < learners_; ++learner) {
        if (decision % plan_.sequence_decisions == 0)
          note_state(learner, decision / plan_.sequence_decisions);
        decide(learner, learner * plan_.decisions + decision);
      }
    }
  }

 private:
  void note_state(std::size_t learner, std::size_t sequence) {
    const std::vector<double> state = networks_[learner]->state();
    const std::size_t sequences = plan_.decisions / plan_.sequence_decisions;
    const auto place = record_.states.subspan((learner * sequences + sequence) * state.size(), state.size());
    std::ranges::transform(state, place.begin(), [](double value) { return static_cast<float>(value); });
  }

  void decide(std::size_t learner, std::size_t row) {
    const auto observation = record_.observations.subspan(row * width_, width_);
    if (gym_path_->state(learner) != FlowState::paused) return skip(row, observation);
    gym_path_->observe(learner, observation);
    record_.acts[row] = choose_act(actions_, networks_[learner]->step(observation)).value;
    record_.labels[row] = expert_act(actions_, gym_path_->cwnd_packets(learner), ideal_packets(learner));
    gym_path_->act(learner, carried_out(row));
  }

  void skip(std::size_t row, std::span<float> observation) {
    std::ranges::fill(observation, 0.0F);
    record_.acts[row] = 0;
    record_.labels[row] = std::numeric_limits<float>::quiet_NaN();
  }

  [[nodiscard]] float carried_out(std::size_t row) const {
    if (!std::isnan(plan_.perturbed_acts[row])) return plan_.perturbed_acts[row];
    return plan_.expert_acts ? record_.labels[row] : record_.acts[row];
  }

  [[nodiscard]] double ideal_packets(std::size_t learner) const {
    const auto step = static_cast<std::size_t>(gym_path_->now_ms() / plan_.ideal_step_ms);
    return plan_.ideal_packets[learner * ideal_steps_ + std::min(step, ideal_steps_ - 1)];
  }

  ActionSet actions_;
  const RolloutPlan& plan_;
  const RolloutRecord& record_;
  std::unique_ptr<GymPath> gym_path_;
  std::size_t learners_;
  std::size_t width_;
  std::size_t ideal_steps_;
  std::vector<std::unique_ptr<PolicyNetwork>> networks_{};
};

}  // namespace

void rollout(const PathSpec& path, const PolicySpec& policy, const PolicyNetwork& network, uint64_t seed,
             const RolloutPlan& plan, const RolloutRecord& record) {
  Rollout{path, policy, network, seed, plan, record}.run();
}

}  // namespace ccgym
