#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "envs/binding/arrays.hh"
#include "envs/binding/bind.hh"
#include "envs/binding/schedule_handle.hh"
#include "envs/twin/flow_slot.hh"
#include "envs/twin/path.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

ScheduleHandle trace(const nb::ndarray<const uint32_t, nb::numpy, nb::ndim<1>, nb::c_contig>& timestamps_ms,
                     bool once) {
  return {Schedule::trace({timestamps_ms.data(), timestamps_ms.data() + timestamps_ms.size()},
                          once ? Schedule::Ending::once : Schedule::Ending::repeats)};
}

Timing timing_of(bool exact) { return exact ? Timing::continuous : Timing::mahimahi; }

ScheduleHandle varying(const StepFunction& rate_mbps, bool poisson, uint64_t seed, bool exact) {
  return {Schedule::varying(rate_mbps, poisson ? Schedule::Arrivals::poisson : Schedule::Arrivals::constant,
                            seed, timing_of(exact))};
}

constexpr double kMaxDelayMs = 1e12;  // nanoseconds of more do not fit beside the times of a run

[[noreturn]] void refuse(const char* what, double value, const char* wanted) {
  throw std::invalid_argument((std::ostringstream{} << what << " " << value << " is not " << wanted).str());
}

using Times = nb::ndarray<const int64_t, nb::numpy, nb::ndim<1>, nb::c_contig>;

template <int64_t (Schedule::*Method)(int64_t) const>
NumpyVector<int64_t> for_each_ms(const ScheduleHandle& handle, const Times& times_ms) {
  std::vector<int64_t> results(times_ms.size());
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = ((*handle.schedule).*Method)(times_ms(i));
  return to_numpy(std::move(results));
}

double checked_share(const char* what, double share) {
  if (!(share >= 0 && share <= 1)) refuse(what, share, "within [0, 1]");
  return share;
}

double checked_size(const char* what, double value) {
  if (!(value >= 0 && std::isfinite(value))) refuse(what, value, "finite and at least 0");
  return value;
}

double checked_delay(const char* what, double delay_ms) {
  if (!(delay_ms >= 0 && delay_ms <= kMaxDelayMs)) refuse(what, delay_ms, "within 0 and 1e12");
  return delay_ms;
}

double checked_end(const char* what, double start, double stop) {
  if (!(stop > start)) refuse(what, stop, "after the start");
  return stop;
}

OnOffSpec make_onoff(double mean_on_ms, double mean_off_ms) {
  if ((mean_on_ms > 0) != (mean_off_ms > 0))
    throw std::invalid_argument("mean_on_ms and mean_off_ms go together: give both or none");
  if (mean_on_ms > 0) check_sojourns(mean_on_ms, mean_off_ms);
  return {checked_size("mean_on_ms", mean_on_ms), checked_size("mean_off_ms", mean_off_ms)};
}

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

CrossTraffic make_cross_traffic(const std::string& kind, double rate_mbps, double mean_on_ms,
                                double mean_off_ms, int32_t packet_bytes, double start_ms, double stop_ms,
                                uint64_t seed) {
  if (!(rate_mbps > 0 && std::isfinite(rate_mbps))) refuse("rate_mbps", rate_mbps, "positive and finite");
  if (packet_bytes < 28 || packet_bytes > 1500) refuse("packet_bytes", packet_bytes, "within [28, 1500]");
  const OnOffSpec onoff = make_onoff(mean_on_ms, mean_off_ms);
  const CrossTrafficKind known = cross_traffic_kind(kind);
  if ((known == CrossTrafficKind::onoff) != (onoff.mean_on_ms > 0))
    throw std::invalid_argument("onoff cross traffic, and no other, has mean_on_ms and mean_off_ms");
  return {known,
          rate_mbps,
          onoff.mean_on_ms,
          onoff.mean_off_ms,
          packet_bytes,
          checked_size("start_ms", start_ms),
          checked_end("stop_ms", start_ms, stop_ms),
          seed};
}

Time checked_time(const char* what, double seconds) { return path_time(checked_size(what, seconds)); }

TrafficSpec make_traffic(int64_t bytes, double mean_on_s, double mean_off_s,
                         const std::optional<double>& mean_think_s) {
  if (bytes < 0) refuse("bytes", static_cast<double>(bytes), "at least 0");
  constexpr auto kPacketBytes = static_cast<int64_t>(kDataBytes);
  TrafficSpec traffic{.packets = (bytes + kPacketBytes - 1) / kPacketBytes,
                      .mean_on = checked_time("mean_on_s", mean_on_s),
                      .mean_off = checked_time("mean_off_s", mean_off_s)};
  if (mean_think_s) traffic.mean_think = checked_time("mean_think_s", *mean_think_s);
  return checked(traffic);
}

FlowSpec make_flow(const std::string& scheme, double start_s, double stop_s, double extra_delay_ms,
                   const TrafficSpec& traffic) {
  return {scheme, checked_size("start_s", start_s), checked_end("stop_s", start_s, stop_s),
          checked_delay("extra_delay_ms", extra_delay_ms), traffic};
}

// Of a pickled flow; times in nanoseconds.
using FlowState =
    std::tuple<std::string, double, double, double, int64_t, int64_t, int64_t, std::optional<int64_t>>;

FlowState state_of(const FlowSpec& flow) {
  const TrafficSpec& traffic = flow.traffic;
  std::optional<int64_t> think_ns;
  if (traffic.mean_think) think_ns = traffic.mean_think->count();
  return {flow.scheme,
          flow.start_s,
          flow.stop_s,
          flow.extra_delay_ms,
          traffic.packets,
          traffic.mean_on.count(),
          traffic.mean_off.count(),
          think_ns};
}

FlowSpec flow_of(const FlowState& state) {
  const auto& [scheme, start_s, stop_s, extra_delay_ms, packets, on_ns, off_ns, think_ns] = state;
  std::optional<Time> think;
  if (think_ns) think = Time{*think_ns};
  return {scheme, start_s, stop_s, extra_delay_ms, {packets, Time{on_ns}, Time{off_ns}, think}};
}

void bind_step_function(nb::module_& module) {
  nb::class_<StepFunction>(module, "StepFunction",
                           "A rate or a delay that changes in steps, and repeats after its period.")
      .def(
          "__init__",
          [](StepFunction* self, std::vector<double> starts_ms, std::vector<double> values,
             double period_ms) {
            new (self) StepFunction{checked({std::move(starts_ms), std::move(values), period_ms})};
          },
          "starts_ms"_a, "values"_a, nb::kw_only(), "period_ms"_a)
      .def_static("random_walk", &random_walk, "first"_a, nb::kw_only(), "every_ms"_a, "spread"_a, "low"_a,
                  "high"_a, "seed"_a, "period_ms"_a,
                  "Every every_ms the value is multiplied by e^(spread * standard normal), and reflected at "
                  "low and high.")
      .def_static(
          "markov_chain",
          [](const std::vector<double>& values, double mean_stay_ms, uint64_t seed, double period_ms) {
            return markov_chain(values, mean_stay_ms, seed, period_ms);
          },
          "values"_a, nb::kw_only(), "mean_stay_ms"_a, "seed"_a, "period_ms"_a,
          "Takes one of the values for an exponentially distributed time, then any of the others.")
      .def_static("cellular_rate", &cellular_rate, "mean"_a, nb::kw_only(), "seed"_a, "period_ms"_a,
                  "The rate of a cellular link after Sprout (NSDI 2013): Brownian motion and outages.")
      .def_ro("starts_ms", &StepFunction::starts_ms)
      .def_ro("values", &StepFunction::values)
      .def_ro("period_ms", &StepFunction::period_ms);
}

void bind_schedule(nb::module_& module) {
  nb::class_<ScheduleHandle>(
      module, "Schedule", "The delivery opportunities of a link; immutable, and may be shared between paths.")
      .def_static(
          "constant", [](double rate_mbps) { return ScheduleHandle{Schedule::constant(rate_mbps)}; },
          "rate_mbps"_a, "round(rate_mbps * 5000) evenly spaced opportunities of 1500 bytes per minute.")
      .def_static(
          "poisson",
          [](double rate_mbps, uint64_t seed, int64_t period_ms, bool exact) {
            return ScheduleHandle{Schedule::poisson(rate_mbps, seed, period_ms, timing_of(exact))};
          },
          "rate_mbps"_a, "seed"_a, "period_ms"_a = 60'000, nb::kw_only(), "exact"_a = false,
          "Opportunities with exponentially distributed gaps, in whole ms; with exact in whole us, as in "
          "continuous timing.")
      .def_static("varying", &varying, "rate_mbps"_a, nb::kw_only(), "poisson"_a, "seed"_a = 0,
                  "exact"_a = false,
                  "Opportunities at a rate that changes in steps, over its period: evenly spaced, or "
                  "Poisson. In whole ms; with exact in whole us, as in continuous timing.")
      .def_static("trace", &trace, "timestamps_ms"_a, nb::kw_only(), "once"_a = false,
                  "Opportunities at the lines of a mahimahi trace (uint32), repeated unless `once`; "
                  "ValueError if they are no valid trace.")
      .def(
          "beginning_at",
          [](const ScheduleHandle& handle, int64_t begin_ms) {
            return ScheduleHandle{handle.schedule->beginning_at(begin_ms)};
          },
          "begin_ms"_a, "The same opportunities, with time 0 at begin_ms of this schedule.")
      .def(
          "opportunities_ms",
          [](const ScheduleHandle& handle) { return to_numpy(handle.schedule->opportunities_ms()); },
          "The opportunities of one period in whole ms (uint32): the lines of a mahimahi trace file.")
      .def("count_through", &for_each_ms<&Schedule::count_through>, "times_ms"_a,
           "Opportunities at or before each time: int64 (n,) to int64 (n,).")
      .def("last_through", &for_each_ms<&Schedule::last_through>, "times_ms"_a,
           "The latest opportunity at or before each time in ms, 0 where there is none yet: int64 to int64.")
      .def_prop_ro("mean_rate_mbps",
                   [](const ScheduleHandle& handle) { return handle.schedule->mean_rate_mbps(); })
      .def_prop_ro("period_ms", [](const ScheduleHandle& handle) { return handle.schedule->period_ms(); })
      .def(
          "count_through",
          [](const ScheduleHandle& handle, int64_t ms) { return handle.schedule->count_through(ms); }, "ms"_a,
          "The number of opportunities from 0 to `ms`, inclusive.")
      .def_prop_ro("repeats", [](const ScheduleHandle& handle) { return handle.schedule->repeats(); });
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
                         checked_share("loss", loss), make_onoff(mean_on_ms, mean_off_ms)};
          },
          "schedule"_a, nb::kw_only(), "queue"_a = "infinite", "queue_packets"_a = 0, "queue_bytes"_a = 0,
          "queue_parameters"_a = QueueParameters{}, "loss"_a = 0.0, "mean_on_ms"_a = 0.0,
          "mean_off_ms"_a = 0.0,
          "queue and its parameters: see known_queues. loss: probability, independent for each packet. "
          "mean_on_ms, mean_off_ms: means of the exponentially distributed periods in which packets pass, "
          "and are dropped.");
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

void bind_traffic(nb::module_& module) {
  nb::class_<CrossTraffic>(module, "CrossTraffic", "Datagrams that share the uplink with the flows' data.")
      .def(
          "__init__",
          [](CrossTraffic* self, const std::string& kind, double rate_mbps, double mean_on_ms,
             double mean_off_ms, int32_t packet_bytes, double start_ms, double stop_ms, uint64_t seed) {
            new (self) CrossTraffic{make_cross_traffic(kind, rate_mbps, mean_on_ms, mean_off_ms, packet_bytes,
                                                       start_ms, stop_ms, seed)};
          },
          "kind"_a, nb::kw_only(), "rate_mbps"_a, "mean_on_ms"_a = 0.0, "mean_off_ms"_a = 0.0,
          "packet_bytes"_a = 1500, "start_ms"_a = 0.0, "stop_ms"_a = kNever, "seed"_a = 0,
          "kind: constant, poisson or onoff. packet_bytes and rate_mbps include the IP header; the rate of "
          "onoff is that of its on periods.");
  nb::class_<FlowSpec>(module, "Flow", "One of several flows that share a path.")
      .def(
          "__init__",
          [](FlowSpec* self, const std::string& scheme, double start_s, double stop_s, double extra_delay_ms,
             int64_t bytes, double mean_on_s, double mean_off_s, const std::optional<double>& mean_think_s) {
            new (self) FlowSpec{make_flow(scheme, start_s, stop_s, extra_delay_ms,
                                          make_traffic(bytes, mean_on_s, mean_off_s, mean_think_s))};
          },
          "scheme"_a = "", nb::kw_only(), "start_s"_a = 0.0, "stop_s"_a = kNever, "extra_delay_ms"_a = 0.0,
          "bytes"_a = 0, "mean_on_s"_a = 0.0, "mean_off_s"_a = 0.0, "mean_think_s"_a = nb::none(),
          "It sends from start_s to stop_s. extra_delay_ms: added one-way delay of this flow, in each "
          "direction; in mahimahi's timing, below half a millisecond, its packets come last within each "
          "millisecond. Without a scheme it runs the scheme that the call names; in a PathBatch it learns. "
          "bytes: size of the flow, rounded up to whole packets; 0: unlimited. mean_on_s, mean_off_s: means "
          "of the exponentially distributed periods with and without data. mean_think_s: the flow sends "
          "responses of `bytes`, each an exponentially distributed time, with this mean, after the last one "
          "has been acknowledged.")
      .def_ro("scheme", &FlowSpec::scheme)
      .def_ro("start_s", &FlowSpec::start_s)
      .def_ro("stop_s", &FlowSpec::stop_s)
      .def_ro("extra_delay_ms", &FlowSpec::extra_delay_ms)
      .def("__getstate__", &state_of)
      .def("__setstate__",
           [](FlowSpec* self, const FlowState& state) { new (self) FlowSpec{flow_of(state)}; });
}

}  // namespace

void bind_network(nb::module_& module) {
  bind_step_function(module);
  bind_schedule(module);
  bind_link(module);
  bind_traffic(module);
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
