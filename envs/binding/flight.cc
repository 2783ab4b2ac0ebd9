#include "envs/twin/flight.hh"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "agents/controllers/make_controller.hh"
#include "envs/binding/arrays.hh"
#include "envs/binding/bind.hh"
#include "envs/twin/replay.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Int32Vector = nb::ndarray<const int32_t, nb::numpy, nb::ndim<1>, nb::c_contig>;
using ReplayResult =
    std::tuple<NumpyVector<int32_t>, NumpyVector<int32_t>, NumpyVector<int32_t>, int64_t, int64_t>;

template <class T>
auto array_of(std::vector<T> Flight::* member) {
  return [member](const Flight& flight) { return to_numpy(flight.*member); };
}

ReplayResult replay_arrivals(const LinkSpec& link, const Int32Vector& arrivals_ms,
                             const Int32Vector& arrivals_bytes, int64_t base_ms, int64_t end_ms,
                             uint64_t seed) {
  Departures departures = replay(link.schedule, link.queue, {arrivals_ms.data(), arrivals_ms.size()},
                                 {arrivals_bytes.data(), arrivals_bytes.size()}, base_ms, end_ms, seed);
  return {to_numpy(std::move(departures.ms)), to_numpy(std::move(departures.bytes)),
          to_numpy(std::move(departures.delay_ms)), departures.dropped_packets, departures.waiting_packets};
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
  module.def("known_schemes", &schemes, "(name, source, argument) of every scheme that flies natively.");
  module.def(
      "replay", &replay_arrivals, "link"_a, "arrivals_ms"_a, "arrivals_bytes"_a, nb::kw_only(), "base_ms"_a,
      "end_ms"_a, "seed"_a = 0,
      "Departures (ms, bytes, delay_ms) of recorded arrivals, through end_ms, on the schedule and queue of a "
      "link begun at base_ms; how many packets the queue dropped, and how many still waited; seed of what it "
      "drops by chance.");
}

}  // namespace ccgym
