#include "envs/twin/path_batch.hh"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace ccgym {

namespace {

constexpr double kIpBytes = kDataTunBytes - kTunHeaderBytes;  // of a data packet, as a link's rate counts it

double in_ms(Time time) { return std::chrono::duration<double, std::milli>(time).count(); }

}  // namespace

// One flow of the batch. The controller is watched, not changed: RTTs are noted as ACKs pass through.
class PathBatch::GymFlow {
 public:
  GymFlow(const PathSpec& path, const PolicySpec& policy, uint64_t seed)
      : controller_(policy, static_cast<int64_t>(kDataBytes)), twin_(path, controller_, seed) {}

  void fly_to_decision() {
    twin_.run(Time::max() / 2, [this] { return controller_.awaiting_action(); });
  }
  void act(float action) {
    controller_.act(action);
    twin_.controller_changed();
  }
  void set_cwnd(double cwnd_packets) {
    controller_.set_cwnd(cwnd_packets);
    twin_.controller_changed();
  }
  [[nodiscard]] double cwnd_packets() const { return controller_.cwnd_packets(); }
  [[nodiscard]] double time_ms() const { return in_ms(twin_.now()); }

  void observe(std::span<float> row) const { std::ranges::copy(controller_.observation(), row.begin()); }

  void measure(std::span<double> row) {
    const auto& sender = twin_.sender();
    const Totals now{twin_.now(), sender.delivered_packets(), sender.lost_packets(), sender.sent_packets()};
    const auto bytes = [](int64_t packets) { return static_cast<double>(packets) * kIpBytes; };
    const StepRtt rtt = controller_.step_rtt();
    const std::array<double, kTelemetry.size()> values{
        in_ms(now.time),
        in_ms(now.time - last_.time),
        controller_.cwnd_packets(),
        bytes(now.delivered_packets - last_.delivered_packets),
        bytes(now.lost_packets - last_.lost_packets),
        bytes(now.sent_packets - last_.sent_packets),
        rtt.mean_ms,
        in_ms(sender.rtt().min),
        static_cast<double>(twin_.queued_packets()),
        rtt.max_ms,
    };
    std::ranges::copy(values, row.begin());
    last_ = now;
  }

 private:
  struct Totals {
    Time time{};
    int64_t delivered_packets{};
    int64_t lost_packets{};
    int64_t sent_packets{};
  };

  PolicyController controller_;
  Twin<PolicyController> twin_;
  Totals last_{};
};

PathBatch::PathBatch(std::vector<PathSpec> paths, const BatchSpec& spec)
    : policy_(spec.policy),
      paths_(std::move(paths)),
      preferences_(paths_.size(), policy_.preference),
      flights_(paths_.size()),
      workers_(spec.threads) {}

PathBatch::~PathBatch() = default;

std::size_t PathBatch::observation_size() const { return feature_divisors(policy_.feature_set).size(); }

void PathBatch::set_path(std::size_t index, PathSpec path) { paths_.at(index) = std::move(path); }

void PathBatch::set_cwnd(std::size_t index, double cwnd_packets) {
  flights_.at(index)->set_cwnd(cwnd_packets);
}

double PathBatch::cwnd_packets(std::size_t index) const {
  return flights_.at(index) ? flights_[index]->cwnd_packets() : 0;
}

double PathBatch::time_ms(std::size_t index) const { return flights_.at(index)->time_ms(); }

void PathBatch::set_preference(std::size_t index, double preference) { preferences_.at(index) = preference; }

void PathBatch::reset(std::span<const int32_t> indices, std::span<const uint64_t> seeds,
                      std::span<float> observations) {
  const std::size_t width = observation_size();
  workers_.for_each(indices.size(), [&](std::size_t i) {
    const auto index = static_cast<std::size_t>(indices[i]);
    PolicySpec policy = policy_;
    policy.preference = preferences_.at(index);
    flights_.at(index) = std::make_unique<GymFlow>(paths_.at(index), policy, seeds[i]);
    flights_[index]->fly_to_decision();
    flights_[index]->observe(observations.subspan(index * width, width));
    std::array<double, kTelemetry.size()> unused{};
    flights_[index]->measure(unused);
  });
}

void PathBatch::step(std::span<const float> actions, std::span<float> observations,
                     std::span<double> telemetry) {
  const std::size_t width = observation_size();
  workers_.for_each(size(), [&](std::size_t i) {
    if (!flights_[i]) throw std::logic_error("flow " + std::to_string(i) + " of the batch was never reset");
    GymFlow& flow = *flights_[i];
    flow.act(actions[i]);
    flow.fly_to_decision();
    flow.observe(observations.subspan(i * width, width));
    flow.measure(telemetry.subspan(i * kTelemetry.size(), kTelemetry.size()));
  });
}

}  // namespace ccgym
