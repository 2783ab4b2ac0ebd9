#include "envs/twin/flight.hh"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "agents/controllers/make_controller.hh"
#include "envs/binding/arrays.hh"
#include "envs/binding/bind.hh"
#include "envs/binding/schedule_handle.hh"
#include "envs/twin/ack_stream.hh"
#include "envs/twin/replay.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Int32Vector = nb::ndarray<const int32_t, nb::numpy, nb::ndim<1>, nb::c_contig>;
using DepartureArrays = std::tuple<NumpyVector<int32_t>, NumpyVector<int32_t>, NumpyVector<int32_t>>;

template <class T>
auto array_of(std::vector<T> Flight::* member) {
  return [member](const Flight& flight) { return to_numpy(flight.*member); };
}

DepartureArrays replay_arrivals(const ScheduleHandle& schedule, const Int32Vector& arrivals_ms,
                                const Int32Vector& arrivals_bytes, int64_t base_ms, int64_t end_ms,
                                const std::string& queue, int64_t queue_packets, int64_t queue_bytes) {
  Departures departures = replay(schedule.schedule, make_queue(queue, queue_packets, queue_bytes),
                                 {arrivals_ms.data(), arrivals_ms.size()},
                                 {arrivals_bytes.data(), arrivals_bytes.size()}, base_ms, end_ms);
  return {to_numpy(std::move(departures.ms)), to_numpy(std::move(departures.bytes)),
          to_numpy(std::move(departures.delay_ms))};
}

std::vector<std::tuple<std::string, std::string, std::string>> schemes() {
  std::vector<std::tuple<std::string, std::string, std::string>> rows;
  for (const Scheme& scheme : known_schemes()) rows.emplace_back(scheme.name, scheme.source, scheme.argument);
  return rows;
}

}  // namespace

void bind_flight(nb::module_& module) {
  nb::class_<Flight>(
      module, "Flight",
      "One finished flow, as mm-link would log its uplink: ms since the flow began, bytes with the "
      "4-byte TUN header, delays within the link only.")
      .def_prop_ro("arrival_ms", array_of(&Flight::arrival_ms), nb::rv_policy::move)
      .def_prop_ro("arrival_bytes", array_of(&Flight::arrival_bytes), nb::rv_policy::move)
      .def_prop_ro("departure_ms", array_of(&Flight::departure_ms), nb::rv_policy::move)
      .def_prop_ro("departure_bytes", array_of(&Flight::departure_bytes), nb::rv_policy::move)
      .def_prop_ro("departure_delay_ms", array_of(&Flight::departure_delay_ms), nb::rv_policy::move)
      .def_prop_ro("cwnd_ms", array_of(&Flight::cwnd_ms), nb::rv_policy::move)
      .def_prop_ro("cwnd_packets", array_of(&Flight::cwnd_packets), nb::rv_policy::move)
      .def_ro("opportunities", &Flight::opportunities)
      .def_ro("sent_packets", &Flight::sent_packets)
      .def_ro("delivered_packets", &Flight::delivered_packets)
      .def_ro("lost_packets", &Flight::lost_packets);
  module.def(
      "fly",
      [](const PathSpec& path, const std::string& scheme, double seconds, uint64_t seed) {
        const nb::gil_scoped_release unlocked;
        return fly(path, scheme, seconds, seed);
      },
      "path"_a, "scheme"_a, nb::kw_only(), "seconds"_a, "seed"_a,
      "Flies one flow of `scheme` (see known_schemes) over `path`; ValueError or RuntimeError for a bad "
      "scheme.");
  nb::class_<AckStream>(
      module, "AckStream",
      "The calls that one flight of a scheme makes to its controller, to be made to others.")
      .def(nb::init<const PathSpec&, std::string_view, double, uint64_t>(), "path"_a, "scheme"_a,
           nb::kw_only(), "seconds"_a, "seed"_a)
      .def("replay", &AckStream::replay, "scheme"_a, "Makes all calls to a new controller.")
      .def_prop_ro("acks", &AckStream::acks);
  module.def("known_schemes", &schemes, "(name, source, argument) of every scheme that flies natively.");
  module.def(
      "replay", &replay_arrivals, "schedule"_a, "arrivals_ms"_a, "arrivals_bytes"_a, nb::kw_only(),
      "base_ms"_a, "end_ms"_a, "queue"_a = "infinite", "queue_packets"_a = 0, "queue_bytes"_a = 0,
      "Departures (ms, bytes, delay_ms) of recorded arrivals, through end_ms, on a link begun at base_ms.");
}

}  // namespace ccgym
