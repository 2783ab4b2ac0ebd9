#include "envs/twin/gym_path.hh"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "agents/controllers/make_controller.hh"
#include "envs/twin/flow_slot.hh"
#include "envs/twin/learner.hh"
#include "envs/twin/telemetry.hh"
#include "envs/twin/twin.hh"
#include "transport/cloned.hh"

namespace ccgym {

namespace {

bool learns(const FlowSpec& flow) { return flow.scheme.empty(); }

// All controllers on the path, and their slots in the twin.
struct PathFlows {
  PathFlows(std::span<const FlowSpec> flows, const PolicySpec& policy, uint64_t seed) {
    const std::size_t count = count_learners(flows);
    learners.reserve(count);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const ControllerConfig config = controller_config(flows[i], seed, i);
      if (learns(flows[i])) {
        learners.emplace_back(policy, config, count > 1 ? policy.step : Time{});
        learner_flows.push_back(i);
        last_stop = std::max(last_stop, path_time(flows[i].stop_s));
      } else {
        scripted.push_back(make_controller(flows[i].scheme, config));
      }
    }
  }

  // All controllers, in the order of the flows.
  template <class Controller>
  std::vector<Controller*> controllers() {
    std::vector<Controller*> all;
    for (std::size_t learner = 0, other = 0; learner + other < learners.size() + scripted.size();) {
      const bool is_learner = learner < learners.size() && learner_flows[learner] == all.size();
      if constexpr (std::is_same_v<Controller, Learner>) {
        all.push_back(&learners[learner++]);
      } else {
        all.push_back(is_learner ? &learners[learner++] : &*scripted[other++]);
      }
    }
    return all;
  }

  template <class Controller>
  std::vector<FlowSlot<Controller>> slots(std::span<const FlowSpec> flows, uint64_t seed) {
    const std::vector<Controller*> all = controllers<Controller>();
    std::vector<FlowSlot<Controller>> slots;
    for (std::size_t i = 0; i < flows.size(); ++i)
      slots.push_back(slot_of(flows[i], *all[i], flow_seed(seed, i)));
    return slots;
  }

  std::vector<Learner> learners{};
  std::vector<std::size_t> learner_flows{};  // of each learner: its number among all flows
  std::vector<Cloned<CongestionController>> scripted{};
  Time last_stop{};
};

// `Controller` is Learner if all flows learn, so that learners are called directly.
template <class Controller>
class TypedGymPath final : public GymPath {
 public:
  TypedGymPath(const PathSpec& path, std::span<const FlowSpec> flows, const PolicySpec& policy, uint64_t seed)
      : path_flows_(flows, policy, seed),
        meters_(path_flows_.learners.size()),
        twin_(path, path_flows_.template slots<Controller>(flows, seed), seed),
        learner_of_flow_(flows.size(), kNoLearner) {
    for (std::size_t i = 0; i < path_flows_.learners.size(); ++i)
      learner_of_flow_[path_flows_.learner_flows[i]] = i;
  }
  TypedGymPath(const TypedGymPath& other)
      : GymPath{other},
        path_flows_(other.path_flows_),
        meters_(other.meters_),
        twin_(other.twin_),
        learner_of_flow_(other.learner_of_flow_) {
    twin_.relink(path_flows_.template controllers<Controller>());
  }
  TypedGymPath& operator=(const TypedGymPath&) = delete;
  ~TypedGymPath() override = default;

  [[nodiscard]] std::size_t learners() const override { return path_flows_.learners.size(); }
  [[nodiscard]] std::size_t observation_size() const override { return policy(0).observation().size(); }

  [[nodiscard]] std::unique_ptr<GymPath> clone() const override {
    return std::make_unique<TypedGymPath>(*this);
  }

  void run_to_decisions() override {
    twin_.run(std::min(path_flows_.last_stop, kEndOfTime), [this](std::size_t flow) {
      const std::size_t learner = learner_of_flow_[flow];
      return learner != kNoLearner && (policy(learner).awaiting_action() || all_are_gone());
    });
  }
  [[nodiscard]] FlowState state(std::size_t learner) const override {
    return twin_.flow(path_flows_.learner_flows[learner]).state();
  }
  [[nodiscard]] double now_ms() const override { return in_ms(twin_.now()); }
  void act(std::size_t learner, Act action) override {
    policy(learner).act(action);
    twin_.resume(path_flows_.learner_flows[learner]);
  }
  void set_cwnd(std::size_t learner, double cwnd_packets) override {
    policy(learner).set_cwnd(cwnd_packets);
    twin_.reread(path_flows_.learner_flows[learner]);
  }
  [[nodiscard]] double cwnd_packets(std::size_t learner) const override {
    return policy(learner).cwnd_packets();
  }
  void observe(std::size_t learner, std::span<float> row) const override {
    std::ranges::copy(policy(learner).observation(), row.begin());
  }
  void measure(std::size_t learner, std::span<double> row) override {
    const auto& flow = twin_.flow(path_flows_.learner_flows[learner]);
    meters_[learner].measure(twin_.now() - flow.start(), flow.sender(), policy(learner),
                             twin_.queued_packets(), row);
  }

 private:
  static constexpr Time kEndOfTime = Time::max() / 2;
  static constexpr std::size_t kNoLearner = SIZE_MAX;

  [[nodiscard]] bool all_are_gone() const {
    return std::ranges::all_of(path_flows_.learner_flows, [this](std::size_t flow) {
      return twin_.flow(flow).state() == FlowState::gone;
    });
  }
  PolicyController& policy(std::size_t learner) { return path_flows_.learners[learner].policy(); }
  [[nodiscard]] const PolicyController& policy(std::size_t learner) const {
    return path_flows_.learners[learner].policy();
  }

  PathFlows path_flows_;
  std::vector<StepMeter> meters_;
  Twin<Controller> twin_;
  std::vector<std::size_t> learner_of_flow_;  // kNoLearner for a flow that follows a scheme
};

}  // namespace

std::size_t count_learners(std::span<const FlowSpec> flows) {
  return static_cast<std::size_t>(std::ranges::count_if(flows, learns));
}

std::unique_ptr<GymPath> make_gym_path(const PathSpec& path, const PolicySpec& policy, uint64_t seed) {
  const std::vector<FlowSpec> flows = flows_of(path);
  if (std::ranges::all_of(flows, learns)) {
    return std::make_unique<TypedGymPath<Learner>>(path, flows, policy, seed);
  }
  return std::make_unique<TypedGymPath<CongestionController>>(path, flows, policy, seed);
}

}  // namespace ccgym
