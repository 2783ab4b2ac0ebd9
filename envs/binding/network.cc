#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "envs/binding/arrays.hh"
#include "envs/binding/bind.hh"
#include "envs/binding/schedule_handle.hh"
#include "envs/twin/path.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

ScheduleHandle trace(const nb::ndarray<const uint32_t, nb::numpy, nb::ndim<1>, nb::c_contig>& timestamps_ms) {
  return {Schedule::trace({timestamps_ms.data(), timestamps_ms.data() + timestamps_ms.size()})};
}

using Times = nb::ndarray<const int64_t, nb::numpy, nb::ndim<1>, nb::c_contig>;

template <int64_t (Schedule::*Ask)(int64_t) const>
NumpyVector<int64_t> for_each_ms(const ScheduleHandle& handle, const Times& times_ms) {
  std::vector<int64_t> answers(times_ms.size());
  for (std::size_t i = 0; i < answers.size(); ++i) answers[i] = ((*handle.schedule).*Ask)(times_ms(i));
  return to_numpy(std::move(answers));
}

double checked_share(const char* what, double share) {
  if (share >= 0 && share <= 1) return share;
  throw std::invalid_argument(std::string{what} + " " + std::to_string(share) + " is not within [0, 1]");
}

LinkSpec make_link(const ScheduleHandle& schedule, const std::string& queue, int64_t queue_packets,
                   int64_t queue_bytes, double loss) {
  return {schedule.schedule, make_queue(queue, queue_packets, queue_bytes), checked_share("loss", loss)};
}

PathSpec make_path(int64_t delay_ms, const LinkSpec& uplink, const LinkSpec& downlink,
                   double stall_probability, double stall_max_ms) {
  if (delay_ms < 0) throw std::invalid_argument("delay_ms " + std::to_string(delay_ms) + " is negative");
  if (!(stall_max_ms >= 0) || !std::isfinite(stall_max_ms)) {
    throw std::invalid_argument("stall_max_ms must be finite and not negative");
  }
  return {delay_ms, uplink, downlink, checked_share("stall_probability", stall_probability), stall_max_ms};
}

void bind_schedule(nb::module_& module) {
  nb::class_<ScheduleHandle>(module, "Schedule", "When a link may deliver; immutable, shared between paths.")
      .def_static(
          "constant", [](double rate_mbps) { return ScheduleHandle{Schedule::constant(rate_mbps)}; },
          "rate_mbps"_a, "round(rate_mbps * 5000) evenly spaced opportunities of 1500 bytes a minute.")
      .def_static(
          "poisson",
          [](double rate_mbps, uint64_t seed, int64_t period_ms) {
            return ScheduleHandle{Schedule::poisson(rate_mbps, seed, period_ms)};
          },
          "rate_mbps"_a, "seed"_a, "period_ms"_a = 60'000, "Exponential gaps, cut to whole ms.")
      .def_static("trace", &trace, "timestamps_ms"_a,
                  "The lines of a mahimahi trace (uint32); ValueError when they are none.")
      .def(
          "opportunities_ms",
          [](const ScheduleHandle& handle) { return to_numpy(handle.schedule->opportunities_ms()); },
          "One period (uint32): exactly the lines of a mahimahi trace file.")
      .def("count_through", &for_each_ms<&Schedule::count_through>, "times_ms"_a,
           "Opportunities at or before each time: int64 (n,) to int64 (n,).")
      .def("last_through", &for_each_ms<&Schedule::last_through>, "times_ms"_a,
           "The latest opportunity at or before each time in ms, 0 where there is none yet: int64 to int64.")
      .def_prop_ro("mean_rate_mbps",
                   [](const ScheduleHandle& handle) { return handle.schedule->mean_rate_mbps(); })
      .def_prop_ro("period_ms", [](const ScheduleHandle& handle) { return handle.schedule->period_ms(); });
}

}  // namespace

void bind_network(nb::module_& module) {
  bind_schedule(module);
  nb::class_<LinkSpec>(module, "Link", "One direction: a schedule, a queue, independent loss.")
      .def(
          "__init__",
          [](LinkSpec* self, const ScheduleHandle& schedule, const std::string& queue, int64_t queue_packets,
             int64_t queue_bytes, double loss) {
            new (self) LinkSpec{make_link(schedule, queue, queue_packets, queue_bytes, loss)};
          },
          "schedule"_a, nb::kw_only(), "queue"_a = "infinite", "queue_packets"_a = 0, "queue_bytes"_a = 0,
          "loss"_a = 0.0);
  nb::class_<PathSpec>(module, "Path", "The network between a sender and its receiver.")
      .def(
          "__init__",
          [](PathSpec* self, int64_t delay_ms, const LinkSpec& uplink, const LinkSpec& downlink,
             double stall_probability, double stall_max_ms) {
            new (self) PathSpec{make_path(delay_ms, uplink, downlink, stall_probability, stall_max_ms)};
          },
          "delay_ms"_a, "uplink"_a, "downlink"_a, nb::kw_only(), "stall_probability"_a = 0.0,
          "stall_max_ms"_a = 0.0,
          "delay_ms one way, each direction; the sender's host stalls with stall_probability per ms, "
          "for up to stall_max_ms.");
}

}  // namespace ccgym
