#include "envs/twin/simulate.hh"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>

#include "agents/controllers/fixed_window.hh"
#include "agents/controllers/make_controller.hh"
#include "agents/policy/policy.hh"
#include "envs/twin/flow_slot.hh"
#include "envs/twin/twin.hh"

namespace ccgym {

namespace {

constexpr int64_t kMaxUnservedPackets = 10'000'000;  // 0.3 GB of arrivals
constexpr Time kSamplePeriod = std::chrono::milliseconds{10};

// Whole microseconds, so that times of sending, queueing and receiving add up.
int64_t in_us(int64_t ns) { return (ns + kNsPerUs / 2) / kNsPerUs; }

double us_in_ms(int64_t us) { return static_cast<double>(us) / 1e3; }

double ns_in_ms(int64_t ns) { return us_in_ms(in_us(ns)); }

using Controllers = std::vector<std::unique_ptr<CongestionController>>;

class FlowRecorder {
 public:
  static constexpr bool kObserves = true;

  explicit FlowRecorder(std::span<FlowRecord> records) : records_(records) {}

  void on_arrival(const LinkPacket& packet) {
    FlowRecord& record = records_[packet.label.flow()];
    if (++unserved_ > kMaxUnservedPackets) {  // a flow that floods the link would fill any memory
      record.unrecorded_bytes += packet.bytes;
      return;
    }
    record.arrival_ms.push_back(ns_in_ms(packet.arrival_ns));
    record.sent_ms.push_back(ns_in_ms(packet.tag));
    record.arrival_bytes.push_back(static_cast<int32_t>(packet.bytes));
  }
  void on_departure(const LinkPacket& packet, int64_t now_ns, int64_t received_ns) {
    --unserved_;
    FlowRecord& record = records_[packet.label.flow()];
    record.departure_ms.push_back(ns_in_ms(now_ns));
    record.departure_bytes.push_back(static_cast<int32_t>(packet.bytes));
    record.departure_delay_ms.push_back(us_in_ms(in_us(now_ns) - in_us(packet.arrival_ns)));
    record.departed_sent_ms.push_back(ns_in_ms(packet.tag));
    record.received_ms.push_back(received_ns == kNeverNs ? std::numeric_limits<double>::quiet_NaN()
                                                         : ns_in_ms(received_ns));
  }

 private:
  std::span<FlowRecord> records_;
  int64_t unserved_{};  // packets that have arrived at the link, and wait or were dropped
};

Controllers make_controllers(std::span<const FlowSpec> flows, uint64_t seed) {
  Controllers controllers;
  for (const FlowSpec& flow : flows) {
    const ControllerConfig config = controller_config(flow, seed, controllers.size());
    controllers.push_back(make_controller(flow.scheme, config));
  }
  return controllers;
}

// The controllers by their concrete type, so that they are called directly; empty if one is of another type.
template <class Controller>
std::vector<FlowSlot<Controller>> slots_of(const Controllers& controllers, std::span<const FlowSpec> flows,
                                           uint64_t seed) {
  std::vector<FlowSlot<Controller>> slots;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    auto* const controller = dynamic_cast<Controller*>(controllers[i].get());
    if (controller == nullptr) return {};
    slots.push_back(slot_of(flows[i], *controller, flow_seed(seed, i)));
  }
  return slots;
}

void sample_metrics(const CongestionController& controller, FlowRecord& record) {
  const std::vector<Metric> metrics = controller.metrics();
  if (record.metric_values.empty()) {
    for (const Metric& metric : metrics) {
      record.metric_names.push_back(metric.name);
      record.metric_units.push_back(metric.unit);
    }
    record.metric_values.resize(metrics.size());
  }
  if (metrics.size() != record.metric_values.size())
    throw std::runtime_error(std::string{controller.name()} + ": has published other metrics before");
  for (std::size_t i = 0; i < metrics.size(); ++i) record.metric_values[i].push_back(metrics[i].value);
}

template <class Controller>
void sample_windows(const std::vector<FlowSlot<Controller>>& slots, Time now, Log log,
                    std::vector<FlowRecord>& records) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (now <= slots[i].start || now > slots[i].stop) continue;
    records[i].cwnd_ms.push_back(in_ms(now));
    records[i].cwnd_packets.push_back(static_cast<double>(slots[i].controller->limits().cwnd_bytes) /
                                      static_cast<double>(kDataBytes));
    if (log == Log::packets) sample_metrics(*slots[i].controller, records[i]);
  }
}

struct RunSettings {
  const PathSpec& path;
  std::span<const FlowSpec> flows;
  Time duration;
  uint64_t seed;
  Log log;
};

template <class Controller, class Observer>
void simulate_slots(const RunSettings& run, const std::vector<FlowSlot<Controller>>& slots,
                    const Observer& observer, std::vector<FlowRecord>& records) {
  Twin<Controller, Observer> twin{run.path, slots, run.seed, observer};
  for (Time now{}; now < run.duration; now += kSamplePeriod) {
    twin.run(std::min(run.duration, now + kSamplePeriod));
    sample_windows(slots, twin.now(), run.log, records);
  }
  const auto duration_ms = std::chrono::duration_cast<std::chrono::milliseconds>(run.duration).count();
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].opportunities = run.path.uplink.schedule->count_through(duration_ms);
    records[i].sent_packets = twin.sender(i).sent_packets();
    records[i].delivered_packets = twin.sender(i).delivered_packets();
    records[i].lost_packets = twin.sender(i).lost_packets();
    records[i].marked_packets = twin.sender(i).ce_packets();
    for (const Time time : twin.flow(i).traffic().completion_times())
      records[i].completion_ms.push_back(ns_in_ms(time.count()));
  }
}

// Runs with the first of these classes that all controllers are of, so that they are called directly; the
// last one is the base class. Each class takes ten seconds to compile: only those are listed whose packets
// become cheaper.
template <class Controller, class... Others>
std::vector<FlowRecord> simulate_as(const RunSettings& run, const Controllers& controllers) {
  const auto slots = slots_of<Controller>(controllers, run.flows, run.seed);
  if constexpr (sizeof...(Others) > 0) {
    if (slots.empty()) return simulate_as<Others...>(run, controllers);
  }
  std::vector<FlowRecord> records(slots.size());
  simulate_slots(run, slots, NoObserver{}, records);
  return records;
}

// Recording takes longer than a virtual call of the controller, so that one instance of the twin is enough
// here.
std::vector<FlowRecord> record(const RunSettings& run, const Controllers& controllers) {
  const auto slots = slots_of<CongestionController>(controllers, run.flows, run.seed);
  std::vector<FlowRecord> records(slots.size());
  simulate_slots(run, slots, FlowRecorder{records}, records);
  return records;
}

}  // namespace

std::vector<FlowRecord> simulate(const PathSpec& path, std::string_view scheme, double seconds, uint64_t seed,
                                 Log log) {
  if (!(seconds >= 0 && seconds <= kMaxSeconds))
    throw std::invalid_argument(
        (std::ostringstream{} << "a run of " << seconds << " s: 0 to 1e9 would be right").str());
  std::vector<FlowSpec> flows = flows_of(path);
  for (FlowSpec& flow : flows) {
    if (flow.scheme.empty()) flow.scheme = scheme;
  }
  const RunSettings run{path, flows, Time{static_cast<int64_t>(seconds * 1e9)}, seed, log};
  const Controllers controllers = make_controllers(flows, seed);
  if (log == Log::packets) return record(run, controllers);
  return simulate_as<FixedWindow, PolicyController, CongestionController>(run, controllers);
}

}  // namespace ccgym
