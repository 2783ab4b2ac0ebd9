#include "envs/twin/simulate.hh"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "agents/controllers/make_controller.hh"
#include "envs/binding/arrays.hh"
#include "envs/binding/bind.hh"
#include "envs/twin/ack_stream.hh"
#include "envs/twin/promises.hh"
#include "envs/twin/replay.hh"
#include "envs/twin/step_record.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Int32Vector = nb::ndarray<const int32_t, nb::numpy, nb::ndim<1>, nb::c_contig>;
using ReplayResult =
    std::tuple<NumpyVector<int32_t>, NumpyVector<int32_t>, NumpyVector<int32_t>, int64_t, int64_t>;

// The array is a view, which keeps the record alive.
template <class T>
auto array_of(std::vector<T> FlowRecord::* member) {
  return [member](const nb::object& self) {
    std::vector<T>& values = nb::cast<FlowRecord&>(self).*member;
    return NumpyVector<T>{values.data(), {values.size()}, self};
  };
}

ReplayResult replay_arrivals(const LinkSpec& link, const Int32Vector& arrivals_ms,
                             const Int32Vector& arrivals_bytes, int64_t base_ms, int64_t end_ms,
                             uint64_t seed) {
  Departures departures = replay(link.schedule, link.queue, {arrivals_ms.data(), arrivals_ms.size()},
                                 {arrivals_bytes.data(), arrivals_bytes.size()}, base_ms, end_ms, seed);
  return {to_numpy(std::move(departures.ms)), to_numpy(std::move(departures.bytes)),
          to_numpy(std::move(departures.delay_ms)), departures.dropped_packets, departures.waiting_packets};
}

// The index of the flow that runs the scheme of the call: the first one that names no scheme.
std::size_t own_flow(const PathSpec& path) {
  const auto own = std::ranges::find_if(path.flows, [](const FlowSpec& flow) { return flow.scheme.empty(); });
  if (own == path.flows.end() && !path.flows.empty())
    throw std::invalid_argument("every flow of the path names a scheme: there is none for another to run");
  return static_cast<std::size_t>(own - path.flows.begin());
}

nb::dict metrics_of(const FlowRecord& record) {
  nb::dict metrics;
  for (std::size_t i = 0; i < record.metric_values.size(); ++i) {
    metrics[nb::str(record.metric_names[i].c_str())] =
        nb::make_tuple(record.metric_units[i], to_numpy(std::vector<double>{record.metric_values[i]}));
  }
  return metrics;
}

std::vector<std::tuple<std::string, std::string, std::string>> schemes() {
  std::vector<std::tuple<std::string, std::string, std::string>> rows;
  for (const Scheme& scheme : known_schemes()) rows.emplace_back(scheme.name, scheme.source, scheme.argument);
  return rows;
}

std::vector<std::tuple<std::string, std::string, std::string>> promises_of(const std::string& scheme,
                                                                           unsigned seed) {
  const nb::gil_scoped_release unlocked;
  std::vector<std::tuple<std::string, std::string, std::string>> rows;
  for (const Promise& promise : check_promises(scheme, seed))
    rows.emplace_back(promise.text, promise.breach, promise.unchecked);
  return rows;
}

void bind_flow_record(nb::module_& module) {
  nb::class_<FlowRecord>(
      module, "FlowRecord",
      "One flow of a run, as mm-link would log its uplink: times in ms since the path began, bytes including "
      "the 4-byte TUN header, delays within the link only. sent_ms is the send time of each arrival at the "
      "link, departed_sent_ms and received_ms are the send and receive time of each departure, NaN for a "
      "packet lost on the way. completion_ms: the time to the last ACK of a flow of limited size, or of each "
      "of its responses.")
      .def_prop_ro("arrival_ms", array_of(&FlowRecord::arrival_ms))
      .def_prop_ro("arrival_bytes", array_of(&FlowRecord::arrival_bytes))
      .def_prop_ro("departure_ms", array_of(&FlowRecord::departure_ms))
      .def_prop_ro("departure_bytes", array_of(&FlowRecord::departure_bytes))
      .def_prop_ro("departure_delay_ms", array_of(&FlowRecord::departure_delay_ms))
      .def_prop_ro("sent_ms", array_of(&FlowRecord::sent_ms))
      .def_prop_ro("departed_sent_ms", array_of(&FlowRecord::departed_sent_ms))
      .def_prop_ro("received_ms", array_of(&FlowRecord::received_ms))
      .def_prop_ro("cwnd_ms", array_of(&FlowRecord::cwnd_ms))
      .def_prop_ro("cwnd_packets", array_of(&FlowRecord::cwnd_packets))
      .def_prop_ro(
          "metrics", &metrics_of,
          "A dict from the name of each metric that the controller publishes to (unit, values), with values "
          "float64 (n,) at the times cwnd_ms; empty without a log.")
      .def_prop_ro("completion_ms", array_of(&FlowRecord::completion_ms))
      .def_ro("opportunities", &FlowRecord::opportunities)
      .def_ro("sent_packets", &FlowRecord::sent_packets)
      .def_ro("delivered_packets", &FlowRecord::delivered_packets)
      .def_ro("lost_packets", &FlowRecord::lost_packets)
      .def_ro("unrecorded_bytes", &FlowRecord::unrecorded_bytes)
      .def_ro("marked_packets", &FlowRecord::marked_packets);
}

void bind_runs(nb::module_& module) {
  module.def(
      "simulate",
      [](const PathSpec& path, const std::string& scheme, double seconds, uint64_t seed, bool log) {
        const nb::gil_scoped_release unlocked;
        return std::move(
            simulate(path, scheme, seconds, seed, log ? Log::packets : Log::totals)[own_flow(path)]);
      },
      "path"_a, "scheme"_a, nb::kw_only(), "seconds"_a, "seed"_a, "log"_a = true,
      "Simulates `scheme` (see known_schemes) over `path`. If the path has flows, the scheme runs as the "
      "first that names none. Returns the record of that flow; without a log its arrivals and departures are "
      "empty. ValueError or RuntimeError for a bad scheme.");
  module.def(
      "simulate",
      [](PathSpec path, std::vector<FlowSpec> flows, double seconds, uint64_t seed, bool log) {
        const nb::gil_scoped_release unlocked;
        path.flows = std::move(flows);
        return simulate(path, "", seconds, seed, log ? Log::packets : Log::totals);
      },
      "path"_a, "flows"_a, nb::kw_only(), "seconds"_a, "seed"_a, "log"_a = true,
      "Simulates these flows, each with its scheme, over one path; returns a FlowRecord for each.");
}

void bind_recordings(nb::module_& module) {
  nb::class_<AckStream>(
      module, "AckStream",
      "The calls that the sender makes to the controller of one run of a scheme, to be replayed to others.")
      .def(nb::init<const PathSpec&, std::string_view, double, uint64_t>(), "path"_a, "scheme"_a,
           nb::kw_only(), "seconds"_a, "seed"_a)
      .def("replay", &AckStream::replay, "scheme"_a, "Makes the same calls to a new controller.")
      .def_prop_ro("acks", &AckStream::acks);
  module.def(
      "record_steps",
      [](const PathSpec& path, const std::string& scheme, std::size_t decisions, double most_seconds,
         uint64_t seed) {
        StepRecord record;
        {
          const nb::gil_scoped_release unlocked;
          record = record_steps(path, scheme, decisions, most_seconds, seed);
        }
        return std::make_pair(to_numpy(std::move(record.observations)), to_numpy(std::move(record.actions)));
      },
      "path"_a, "scheme"_a, nb::kw_only(), "decisions"_a, "most_seconds"_a, "seed"_a,
      "Runs a scheme as an agent of the gym. Returns the observations, the raw features of each decision, "
      "and the actions, window in packets and pacing rate in Mbit/s (100,000 without pacing) of each "
      "decision; both are flat.");
  module.def("replay", &replay_arrivals, "link"_a, "arrivals_ms"_a, "arrivals_bytes"_a, nb::kw_only(),
             "base_ms"_a, "end_ms"_a, "seed"_a = 0,
             "Replays recorded arrivals, until end_ms, on the schedule and queue of a link that began at "
             "base_ms. Returns the departures (ms, bytes, delay_ms), and how many packets the queue dropped, "
             "and how many are still in it. seed: of random drops.");
}

}  // namespace

void bind_simulate(nb::module_& module) {
  bind_flow_record(module);
  bind_runs(module);
  bind_recordings(module);
  module.def("check_promises", &promises_of, "scheme"_a, nb::kw_only(), "seed"_a,
             "(promise, how it was broken, why it was not checked) for each promise that a controller makes, "
             "on random networks of this seed; the last two are empty if the promise holds.");
  module.def("known_schemes", &schemes, "(name, source, argument) of every scheme that runs natively.");
}

}  // namespace ccgym
