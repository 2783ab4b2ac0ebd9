// Delivery opportunities of links, and the step functions that they may follow.
#include "envs/binding/schedule.hh"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "envs/binding/arrays.hh"
#include "envs/binding/bind.hh"
#include "envs/twin/schedule.hh"
#include "envs/twin/step_function.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

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

using Times = nb::ndarray<const int64_t, nb::numpy, nb::ndim<1>, nb::c_contig>;

template <int64_t (Schedule::*Method)(int64_t) const>
NumpyVector<int64_t> for_each_ms(const ScheduleHandle& handle, const Times& times_ms) {
  std::vector<int64_t> results(times_ms.size());
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = ((*handle.schedule).*Method)(times_ms(i));
  return to_numpy(std::move(results));
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

void bind_factories(nb::class_<ScheduleHandle>& schedule) {
  schedule
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
                  "ValueError if they are no valid trace.");
}

void bind_queries(nb::class_<ScheduleHandle>& schedule) {
  schedule
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

}  // namespace

void bind_schedule(nb::module_& module) {
  bind_step_function(module);
  nb::class_<ScheduleHandle> schedule(
      module, "Schedule",
      "The delivery opportunities of a link; immutable, and may be shared between paths.");
  bind_factories(schedule);
  bind_queries(schedule);
}

}  // namespace ccgym
