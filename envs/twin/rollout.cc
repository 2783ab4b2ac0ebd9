#include "envs/twin/rollout.hh"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "agents/controllers/policy/expert_act.hh"

namespace ccgym {

namespace {

class Rollout {
 public:
  Rollout(PathBatch& batch, const PolicyNetwork& network, const RolloutPlan& plan,
          const RolloutRecord& record)
      : batch_(batch),
        plan_(plan),
        record_(record),
        flows_(batch.size()),
        width_(batch.observation_size()),
        ideal_steps_(plan.ideal_packets.size() / flows_),
        observations_(flows_ * width_),
        telemetry_(flows_ * kTelemetry.size()),
        acts_(flows_) {
    for (std::size_t flow = 0; flow < flows_; ++flow) networks_.push_back(network.clone());
  }

  void begin(std::span<const uint64_t> seeds) {
    std::vector<int32_t> all(flows_);
    std::iota(all.begin(), all.end(), 0);
    batch_.reset(all, seeds, observations_);
  }

  void decide(std::size_t decision) {
    for (std::size_t flow = 0; flow < flows_; ++flow) {
      if (decision % plan_.sequence_decisions == 0) note_state(flow, decision / plan_.sequence_decisions);
      acts_[flow] = decide_for(flow, decision);
    }
    batch_.step(acts_, observations_, telemetry_);
  }

 private:
  void note_state(std::size_t flow, std::size_t sequence) {
    const std::vector<double> state = networks_[flow]->state();
    const std::size_t sequences = plan_.decisions / plan_.sequence_decisions;
    std::ranges::transform(state, &record_.states[(flow * sequences + sequence) * state.size()],
                           [](double value) { return static_cast<float>(value); });
  }

  // Writes the decision down; returns the act that is carried out.
  float decide_for(std::size_t flow, std::size_t decision) {
    const ActionSet actions = batch_.policy().actions;
    const std::size_t row = flow * plan_.decisions + decision;
    const std::span<const float> observation = std::span{observations_}.subspan(flow * width_, width_);
    std::ranges::copy(observation, record_.observations.subspan(row * width_, width_).begin());
    record_.acts[row] = choose_act(actions, networks_[flow]->step(observation));
    record_.labels[row] = expert_act(actions, batch_.cwnd_packets(flow), ideal_packets(flow));
    const float forced = plan_.forced_acts[row];
    if (!std::isnan(forced)) return forced;
    return plan_.expert_acts ? record_.labels[row] : record_.acts[row];
  }

  [[nodiscard]] double ideal_packets(std::size_t flow) const {
    const auto step = static_cast<std::size_t>(batch_.time_ms(flow) / plan_.ideal_step_ms);
    return plan_.ideal_packets[flow * ideal_steps_ + std::min(step, ideal_steps_ - 1)];
  }

  PathBatch& batch_;
  const RolloutPlan& plan_;
  const RolloutRecord& record_;
  std::size_t flows_;
  std::size_t width_;
  std::size_t ideal_steps_;
  std::vector<std::unique_ptr<PolicyNetwork>> networks_{};
  std::vector<float> observations_;
  std::vector<double> telemetry_;
  std::vector<float> acts_;
};

}  // namespace

void rollout(PathBatch& batch, const PolicyNetwork& network, std::span<const uint64_t> seeds,
             const RolloutPlan& plan, const RolloutRecord& record) {
  Rollout flight{batch, network, plan, record};
  flight.begin(seeds);
  for (std::size_t decision = 0; decision < plan.decisions; ++decision) flight.decide(decision);
}

}  // namespace ccgym
