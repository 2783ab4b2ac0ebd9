// The twin keeps the contract of congestion_controller.hh in every use: whole flows, the gym's paths with
// their learners, and recorders of runs.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agents/controllers/make_controller.hh"
#include "deploy/endpoint/timed_policy.hh"
#include "envs/twin/ack_stream.hh"
#include "envs/twin/flow_slot.hh"
#include "envs/twin/gym_path.hh"
#include "envs/twin/learner.hh"
#include "envs/twin/random_network.hh"
#include "envs/twin/simulate.hh"
#include "envs/twin/step_record.hh"
#include "envs/twin/twin.hh"
#include "tests/cpp/transport/driver_contract.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

// 12 Mbit/s over 42 ms with a short queue: packets are lost, or marked if their scheme uses ECN.
PathSpec path_of(const QueueSpec& queue) {
  const auto schedule = Schedule::constant(12);
  return {
      .delay_ms = 20, .uplink = {.schedule = schedule, .queue = queue}, .downlink = {.schedule = schedule}};
}

PathSpec calm() { return path_of({.kind = "droptail", .packets = 30}); }

PathSpec marking() {
  return path_of(
      {.kind = "codel", .packets = 200, .parameters = {{"target_ms", 5}, {"interval_ms", 50}, {"ecn", 1}}});
}

PathSpec lossy() {
  PathSpec path = calm();
  path.uplink.loss = 0.03;
  path.downlink.loss = 0.03;
  path.stall_probability = 0.02;
  path.stall_max_ms = 8;
  return path;
}

// Drops all packets for seconds: schemes time out.
PathSpec breaking() {
  PathSpec path = calm();
  path.uplink.onoff = {.mean_on_ms = 1500, .mean_off_ms = 1500};
  return path;
}

// Holds all ACKs back for seconds: the time-outs are spurious.
PathSpec silent() {
  PathSpec path = calm();
  std::vector<uint32_t> opportunities;
  for (uint32_t ms = 1; ms <= 2000; ++ms) opportunities.push_back(ms);
  opportunities.push_back(4000);
  path.downlink.schedule = Schedule::trace(std::move(opportunities));
  return path;
}

PathSpec crossed() {
  PathSpec path = calm();
  path.cross_traffic.push_back(
      {.kind = CrossTrafficKind::poisson, .rate_mbps = 6, .packet_bytes = 1000, .stop_ms = 1e9, .seed = 5});
  path.cross_traffic.push_back({.kind = CrossTrafficKind::onoff,
                                .rate_mbps = 12,
                                .mean_on_ms = 300,
                                .mean_off_ms = 300,
                                .packet_bytes = 1500,
                                .stop_ms = 1e9,
                                .seed = 6});
  return path;
}

struct Named {
  std::string name;
  PathSpec path;
  std::set<std::string> calls;  // that it is there for
};

std::vector<Named> paths() {
  return {{"calm", calm(), {"lost", "restarted", "timer"}},
          {"marking", marking(), {"marked"}},
          {"lossy", lossy(), {"lost", "overdue"}},
          {"breaking", breaking(), {"timed out"}},
          {"silent", silent(), {"timed out", "spurious", "spurious time-out"}},
          {"crossed", crossed(), {"lost"}}};
}

// Flows of limited size, with on and off periods, and of responses to requests.
std::vector<TrafficSpec> kinds_of_traffic() {
  return {{},
          {.packets = 200},
          {.mean_on = milliseconds{300}, .mean_off = milliseconds{400}},
          {.packets = 60, .mean_think = milliseconds{200}}};
}

// One flow of each kind of traffic; some start later, and one has an extra delay.
void add_flows(PathSpec& path, const std::string& scheme) {
  for (const TrafficSpec& traffic : kinds_of_traffic()) {
    const auto before = static_cast<double>(path.flows.size());
    path.flows.push_back({.scheme = "contract:" + scheme,
                          .start_s = 0.3 * before,
                          .stop_s = before == 0 ? 6 : 1e9,
                          .extra_delay_ms = before == 1 ? 15.0 : 0.0,
                          .traffic = traffic});
  }
}

class TwinContract : public testing::TestWithParam<Named> {
 protected:
  static void SetUpTestSuite() {
    static const bool registered = (register_controllers("contract", make_with_contract), true);
    EXPECT_TRUE(registered);
  }
  void SetUp() override { begin(); }
  static void begin() {
    contract_log = std::make_shared<ContractLog>();
    controllers_made = 0;
  }
  using Calls = std::map<std::string, int>;
  // The calls of a run that keeps the contract, by kind.
  static Calls calls_in(const std::function<void()>& run) {
    begin();
    run();
    expect_none(1);
    EXPECT_GT(contract_log->calls().at("acknowledged"), 100);
    return contract_log->calls();
  }
  // At least so many controllers were made, and none saw a violation.
  static void expect_none(int controllers) {
    EXPECT_GE(controllers_made, controllers);
    EXPECT_EQ(contract_log->violations(), std::vector<std::string>{});
  }

  [[nodiscard]] static const PathSpec& path() { return GetParam().path; }

  // The log of all controllers called "contract:SCHEME" of this test; static, because a factory is a
  // function.
  inline static std::shared_ptr<ContractLog> contract_log{};
  inline static int controllers_made{0};

 private:
  static std::unique_ptr<CongestionController> make_with_contract(std::string_view scheme,
                                                                  const ControllerConfig& config) {
    ++controllers_made;
    return std::make_unique<DriverContract>(make_controller(scheme, config), contract_log);
  }
};

TEST_P(TwinContract, KeptToEveryFlowOfASharedPath) {
  for (const char* scheme : {"cubic", "dctcp", "bbr", "sprout"}) {
    PathSpec shared = path();
    add_flows(shared, scheme);
    const std::vector<FlowRecord> records = simulate(shared, "", 6, /*seed=*/1);
    EXPECT_GT(records.front().delivered_packets, 100) << scheme;
  }
  for (const std::string& call : GetParam().calls) EXPECT_TRUE(contract_log->calls().contains(call)) << call;
  expect_none(16);
}

// Steps a path, and from the middle on a copy of it as well.
void act_for(GymPath& path, int steps) {
  for (int step = 0; step < steps; ++step) {
    path.run_to_decisions();
    for (std::size_t learner = 0; learner < path.learners(); ++learner) {
      if (path.state(learner) == FlowState::paused) path.act(learner, static_cast<float>(step * 3 % 5));
    }
    if (step % 50 == 20) path.set_cwnd(0, 25);
  }
}

TEST_P(TwinContract, KeptToTheSchemesBesideLearners) {
  for (const std::size_t learners : {1U, 2U}) {
    PathSpec shared = path();
    add_flows(shared, "cubic");
    for (std::size_t i = 0; i < learners; ++i)
      shared.flows.push_back({.start_s = 0.2 * static_cast<double>(i)});
    const std::unique_ptr<GymPath> gym = make_gym_path(shared, {}, /*seed=*/2);
    act_for(*gym, 200);
    const std::unique_ptr<GymPath> copy = gym->clone();
    act_for(*copy, 100);
    act_for(*gym, 100);
  }
  expect_none(8);
}

// Learners as GymPath runs them, each with a check of the contract.
struct Learners {
  Learners(PathSpec spec, std::size_t count, const std::shared_ptr<ContractLog>& contract_log)
      : path(std::move(spec)) {
    for (std::size_t i = 0; i < count; ++i) {
      const FlowSpec flow{.traffic = kinds_of_traffic()[2 * i]};
      auto learner = std::make_unique<Learner>(PolicySpec{}, controller_config(flow, 3, i),
                                               count > 1 ? PolicySpec{}.step : Time{});
      learners.push_back(learner.get());
      controllers.push_back(std::make_unique<DriverContract>(std::move(learner), contract_log));
      slots.push_back(slot_of<CongestionController>(flow, *controllers.back(), flow_seed(3, i)));
    }
  }

  // Runs until all of them together have taken so many actions, for at most a minute.
  void run(int actions) {
    Twin<CongestionController> twin{path, slots, /*seed=*/3};
    while (acts < actions && twin.now() < std::chrono::minutes{1}) {
      twin.run(std::chrono::minutes{1},
               [this](std::size_t flow) { return learners[flow]->policy().awaiting_action(); });
      for (std::size_t flow = 0; flow < learners.size(); ++flow) {
        if (!learners[flow]->policy().awaiting_action()) continue;
        learners[flow]->policy().act(static_cast<float>(acts++ * 3 % 5));
        if (acts % 50 == 20) learners[flow]->policy().set_cwnd(25);
        twin.resume(flow);
      }
    }
  }

  PathSpec path;
  std::vector<Learner*> learners{};
  std::vector<std::unique_ptr<DriverContract>> controllers{};
  std::vector<FlowSlot<CongestionController>> slots{};
  int acts{0};
};

TEST_P(TwinContract, KeptToLearners) {
  for (const std::size_t count : {1U, 2U}) {
    Learners learners{path(), count, contract_log};
    learners.run(300);
    EXPECT_GT(learners.acts, 100) << count;
  }
  expect_none(0);
}

// A recorder that did not pass on a call would show as a violation, or as a different number of calls to the
// scheme.
TEST_P(TwinContract, KeptThroughTheRecorders) {
  PathSpec halting = path();
  halting.flows.push_back({.traffic = kinds_of_traffic()[2]});
  for (const char* scheme : {"contract:cubic", "contract:sprout"}) {
    const Calls told = calls_in([&] { record_steps(halting, scheme, 1000, 6, /*seed=*/4); });
    EXPECT_EQ(told, calls_in([&] { simulate(halting, scheme, 6, /*seed=*/4); }));
    EXPECT_TRUE(told.contains("restarted"));
    EXPECT_EQ(calls_in([&] { AckStream(path(), scheme, 6, /*seed=*/4); }),
              calls_in([&] { simulate(path(), scheme, 6, /*seed=*/4); }));
  }
}

// To a scheme without a timer, as its own are not among the calls.
TEST_P(TwinContract, KeptByWhatRepeatsTheCallsOfARun) {
  const AckStream stream{path(), "contract:cubic", 6, /*seed=*/4};
  const Calls told = contract_log->calls();
  EXPECT_EQ(calls_in([&] { stream.replay("contract:cubic"); }), told);
}

INSTANTIATE_TEST_SUITE_P(Paths, TwinContract, testing::ValuesIn(paths()),
                         [](const auto& path) { return path.param.name; });

TEST(TimedPolicy, PassesOnWhatASenderThatKeepsItsContractTells) {
  const auto told = std::make_shared<ContractLog>();
  auto scheme = std::make_unique<DriverContract>(
      make_controller("sprout", {.packet_bytes = RandomNetwork::kPacketBytes}), told);
  RandomNetwork network{std::make_unique<TimedPolicy>(std::move(scheme)), /*seed=*/3};
  while (network.now() < std::chrono::seconds{8} && network.step()) {
  }
  EXPECT_TRUE(told->calls().contains("timer"));
  EXPECT_EQ(told->violations(), std::vector<std::string>{});
}

}  // namespace
}  // namespace ccgym
