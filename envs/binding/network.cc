// Links with their queues, and paths.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "envs/binding/argument_checks.hh"
#include "envs/binding/bind.hh"
#include "envs/binding/schedule.hh"
#include "envs/twin/path.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

PathSpec make_path(double delay_ms, const LinkSpec& uplink, const LinkSpec& downlink,
                   double stall_probability, double stall_max_ms, const std::string& timing,
                   const std::vector<std::string>& nesting,
                   const std::optional<StepFunction>& varying_delay_ms,
                   std::vector<CrossTraffic> cross_traffic, std::vector<FlowSpec> flows) {
  const bool continuous = timing == "continuous";
  if (!continuous && timing != "mahimahi")
    throw std::invalid_argument("unknown timing '" + timing + "': known are mahimahi, continuous");
  checked_delay("delay_ms", delay_ms);
  if (!continuous && delay_ms != std::floor(delay_ms))
    refuse("delay_ms", delay_ms, "whole, which mahimahi's timing needs");
  return {.delay_ms = delay_ms,
          .uplink = uplink,
          .downlink = downlink,
          .stall_probability = checked_share("stall_probability", stall_probability),
          .stall_max_ms = checked_delay("stall_max_ms", stall_max_ms),
          .timing = continuous ? Timing::continuous : Timing::mahimahi,
          .nesting = nesting.empty() ? kDefaultNesting : make_nesting(nesting),
          .varying_delay_ms =
              varying_delay_ms ? std::make_shared<const StepFunction>(*varying_delay_ms) : nullptr,
          .cross_traffic = std::move(cross_traffic),
          .flows = std::move(flows)};
}

using QueueParameters = std::map<std::string, double>;

QueueSpec queue_of(const std::string& kind, int64_t packets, int64_t bytes,
                   const QueueParameters& parameters) {
  return checked({kind, packets, bytes, {parameters.begin(), parameters.end()}});
}

std::vector<std::pair<std::string, std::vector<QueueKey>>> keys_of_queues() {
  std::vector<std::pair<std::string, std::vector<QueueKey>>> queues;
  for (const QueueKind& kind : known_queues()) queues.emplace_back(kind.name, kind.keys);
  return queues;
}

void bind_queues(nb::module_& module) {
  nb::enum_<QueueValue>(module, "QueueValue", "The type of a queue's parameter.")
      .value("real", QueueValue::real)
      .value("whole", QueueValue::whole)
      .value("flag", QueueValue::flag);
  nb::class_<QueueKey>(module, "QueueKey",
                       "A parameter of a queue, by its name in specs, with its type and range.")
      .def_prop_ro("name", [](const QueueKey& key) { return std::string{key.name}; })
      .def_ro("value", &QueueKey::value)
      .def_ro("least", &QueueKey::least)
      .def_ro("most", &QueueKey::most);
  module.def("known_queues", &keys_of_queues, "(name, its parameters) of every queue.");
  module.def(
      "check_queue",
      [](const std::string& queue, int64_t queue_packets, int64_t queue_bytes,
         const QueueParameters& parameters) {
        static_cast<void>(queue_of(queue, queue_packets, queue_bytes, parameters));
      },
      "queue"_a, nb::kw_only(), "queue_packets"_a, "queue_bytes"_a, "queue_parameters"_a,
      "ValueError for an unknown queue, and for parameters that it does not have or that are out of range.");
}

void bind_link(nb::module_& module) {
  nb::class_<LinkSpec>(module, "Link",
                       "One direction of a path: a schedule, a queue, random loss, and interruptions.")
      .def(
          "__init__",
          [](LinkSpec* self, const ScheduleHandle& schedule, const std::string& queue, int64_t queue_packets,
             int64_t queue_bytes, const QueueParameters& queue_parameters, double loss, double mean_on_ms,
             double mean_off_ms) {
            new (self)
                LinkSpec{schedule.schedule, queue_of(queue, queue_packets, queue_bytes, queue_parameters),
                         checked_share("loss", loss), checked_onoff(mean_on_ms, mean_off_ms)};
          },
          "schedule"_a, nb::kw_only(), "queue"_a = "infinite", "queue_packets"_a = 0, "queue_bytes"_a = 0,
          "queue_parameters"_a = QueueParameters{}, "loss"_a = 0.0, "mean_on_ms"_a = 0.0,
          "mean_off_ms"_a = 0.0,
          "queue and its parameters: see known_queues. loss: probability, independent for each packet. "
          "mean_on_ms, mean_off_ms: means of the exponentially distributed periods in which packets pass, "
          "and are dropped.");
}

}  // namespace

void bind_network(nb::module_& module) {
  bind_queues(module);
  bind_link(module);
  nb::class_<PathSpec>(module, "Path", "The network between senders and their receivers.")
      .def(
          "__init__",
          [](PathSpec* self, double delay_ms, const LinkSpec& uplink, const LinkSpec& downlink,
             double stall_probability, double stall_max_ms, const std::string& timing,
             const std::vector<std::string>& nesting, const std::optional<StepFunction>& varying_delay_ms,
             std::vector<CrossTraffic> cross_traffic, std::vector<FlowSpec> flows) {
            new (self)
                PathSpec{make_path(delay_ms, uplink, downlink, stall_probability, stall_max_ms, timing,
                                   nesting, varying_delay_ms, std::move(cross_traffic), std::move(flows))};
          },
          "delay_ms"_a, "uplink"_a, "downlink"_a, nb::kw_only(), "stall_probability"_a = 0.0,
          "stall_max_ms"_a = 0.0, "timing"_a = "mahimahi", "nesting"_a = std::vector<std::string>{},
          "varying_delay_ms"_a = nb::none(), "cross_traffic"_a = std::vector<CrossTraffic>{},
          "flows"_a = std::vector<FlowSpec>{},
          "delay_ms: one-way propagation delay, in each direction; varying_delay_ms: the same, instead of "
          "delay_ms. The sender's host stalls with the probability stall_probability per ms, for up to "
          "stall_max_ms. nesting: order of the shells delay, onoff, loss and link, outermost first.")
      .def("beginning_at", &beginning_at, "begin_ms"_a,
           "The same path, with time 0 at begin_ms of its schedules.");
}

}  // namespace ccgym
