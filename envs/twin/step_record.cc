#include "envs/twin/step_record.hh"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "agents/controllers/make_controller.hh"
#include "agents/policy/raw_features.hh"
#include "envs/twin/flow_slot.hh"
#include "envs/twin/twin.hh"
#include "transport/forwarding_controller.hh"

namespace ccgym {

namespace {

constexpr Time kStep = std::chrono::milliseconds{10};            // the gym's
constexpr Time kMaxSilence = std::chrono::seconds{1};            // as the policy's: agents/policy/observer.hh
constexpr Time kCheckInterval = std::chrono::milliseconds{100};  // whether there are enough decisions
constexpr float kMaxPackets = 1e5F;                              // the gym's largest window

// A decorator of the scheme. A decision that is due between two events is recorded before the second one,
// because nothing has changed since it was due.
class StepRecorder final : public ForwardingController<Cloned<CongestionController>> {
 public:
  StepRecorder(std::unique_ptr<CongestionController> scheme, int64_t packet_bytes)
      : ForwardingController{std::move(scheme)},
        packet_bytes_{static_cast<double>(packet_bytes)},
        features_{packet_bytes},
        window_packets_{std::max(1.0, window_packets())} {}

  void on_sent(Time now, const SentPacket& packet) override {
    decide_before(now);
    if (!step_start_) step_start_ = now;
    inner().on_sent(now, packet);
  }
  void on_ack(Time now, const AckEvent& ack) override {
    decide_before(now);
    features_.on_loss(ack.lost);
    if (!ack.acked.empty()) process_ack(now, ack);
    inner().on_ack(now, ack);
  }
  void on_timeout(Time now, const Timeout& timeout) override {
    decide_before(now);
    features_.on_loss(timeout.lost);
    inner().on_timeout(now, timeout);
  }
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override {
    decide_before(now);
    inner().on_spurious_loss(now, loss);
  }
  void on_restart(Time now, Time idle) override {
    decide_before(now);
    inner().on_restart(now, idle);
  }
  void on_timer(Time now, const Timer& timer) override {
    decide_before(now);
    inner().on_timer(now, timer);
  }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<StepRecorder>(*this);
  }

  void decide_before(Time now) {
    while (step_start_ && due() < now) decide(due());
  }
  [[nodiscard]] std::size_t decisions() const { return record_.actions.size() / 2; }
  [[nodiscard]] StepRecord take_record() { return std::move(record_); }

 private:
  void process_ack(Time now, const AckEvent& ack) {
    if (!std::exchange(got_first_ack_, true)) step_start_ = now;
    if (!first_ack_) first_ack_ = now;
    features_.on_ack(now, ack);
  }

  [[nodiscard]] Time due() const {
    return first_ack_ ? std::max(*step_start_ + kStep, *first_ack_) : *step_start_ + kMaxSilence;
  }

  void decide(Time now) {
    const std::size_t size = RawFeatures::kNames.size();
    record_.observations.resize(record_.observations.size() + size);
    features_.observe(now, {.cwnd_packets = window_packets_}, std::span{record_.observations}.last(size));
    window_packets_ = std::clamp(window_packets(), 1.0, static_cast<double>(kMaxPackets));
    const std::optional<Rate> rate = inner().limits().pacing_rate;
    record_.actions.push_back(static_cast<float>(window_packets_));
    record_.actions.push_back(rate ? std::clamp(static_cast<float>(rate->mbps()), 1e-3F, kNoPacingMbps)
                                   : kNoPacingMbps);
    step_start_ = now;
    first_ack_.reset();
  }

  [[nodiscard]] double window_packets() const {
    return static_cast<double>(inner().limits().cwnd_bytes) / packet_bytes_;
  }

  double packet_bytes_;
  RawFeatures features_;
  double window_packets_;  // of the action before
  std::optional<Time> step_start_{};
  std::optional<Time> first_ack_{};  // of the step
  bool got_first_ack_{false};
  StepRecord record_{};
};

// The controllers of a path's flows, of which the first one without a scheme of its own is recorded.
struct RecordedFlows {
  std::vector<std::unique_ptr<CongestionController>> controllers{};
  std::vector<FlowSlot<CongestionController>> slots{};
  StepRecorder* recorder{nullptr};
};

RecordedFlows make_flows(const PathSpec& path, std::string_view scheme, uint64_t seed) {
  RecordedFlows flows;
  for (const FlowSpec& flow : flows_of(path)) {
    const std::size_t number = flows.slots.size();
    const ControllerConfig config = controller_config(flow, seed, number);
    auto controller = make_controller(flow.scheme.empty() ? scheme : flow.scheme, config);
    if (flow.scheme.empty() && flows.recorder == nullptr) {
      auto recorder = std::make_unique<StepRecorder>(std::move(controller), config.packet_bytes);
      flows.recorder = recorder.get();
      controller = std::move(recorder);
    }
    flows.slots.push_back(slot_of(flow, *controller, flow_seed(seed, number)));
    flows.controllers.push_back(std::move(controller));
  }
  if (flows.recorder == nullptr)
    throw std::invalid_argument("every flow of the path names a scheme: none is recorded");
  return flows;
}

void keep_first(std::size_t decisions, StepRecord& record) {
  const std::size_t kept = std::min(decisions, record.actions.size() / 2);
  record.observations.resize(kept * RawFeatures::kNames.size());
  record.actions.resize(kept * 2);
}

}  // namespace

StepRecord record_steps(const PathSpec& path, std::string_view scheme, std::size_t decisions,
                        double most_seconds, uint64_t seed) {
  const RecordedFlows flows = make_flows(path, scheme, seed);
  Twin<CongestionController> twin{path, flows.slots, seed};
  const Time end{static_cast<int64_t>(most_seconds * 1e9)};
  for (Time now{}; now < end && flows.recorder->decisions() < decisions; now += kCheckInterval)
    twin.run(std::min(end, now + kCheckInterval));
  StepRecord record = flows.recorder->take_record();
  keep_first(decisions, record);
  return record;
}

}  // namespace ccgym
