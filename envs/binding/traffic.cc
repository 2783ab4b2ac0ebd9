// The flows of a path, and the cross traffic beside them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "envs/binding/argument_checks.hh"
#include "envs/binding/bind.hh"
#include "envs/twin/flow_slot.hh"
#include "envs/twin/packet_sizes.hh"
#include "envs/twin/path.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

CrossTraffic make_cross_traffic(const std::string& kind, double rate_mbps, double mean_on_ms,
                                double mean_off_ms, int32_t packet_bytes, double start_ms, double stop_ms,
                                uint64_t seed) {
  if (!(rate_mbps > 0 && std::isfinite(rate_mbps))) refuse("rate_mbps", rate_mbps, "positive and finite");
  if (packet_bytes < kIpUdpHeaderBytes || packet_bytes > kMtuBytes)
    refuse("packet_bytes", packet_bytes, "within [28, 1500]");
  const OnOffSpec onoff = checked_onoff(mean_on_ms, mean_off_ms);
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

void bind_cross_traffic(nb::module_& module) {
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
}

void bind_flow(nb::module_& module) {
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

void bind_traffic(nb::module_& module) {
  bind_cross_traffic(module);
  bind_flow(module);
}

}  // namespace ccgym
