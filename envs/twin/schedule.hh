// When a link may deliver: mahimahi's trace of delivery opportunities, each of one full packet.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "envs/twin/step_function.hh"
#include "envs/twin/timing.hh"

namespace ccgym {

// Immutable, and shared by all links that use it. Schedules that differ only in their beginning share the
// list of opportunities, whose times are those since the origin of all of them.
class Schedule {
 public:
  enum class Ending { repeats, once };        // after its last opportunity; `once` is mm-link's --once
  enum class Arrivals { constant, poisson };  // how opportunities are spaced

  // round(rate_mbps * 5000) opportunities of 1500 bytes a minute, the i-th at ceil(i * 60000 / n) ms.
  static std::shared_ptr<const Schedule> constant(double rate_mbps);
  // Exponential gaps of mean 12 / rate_mbps ms over `period_ms`, cut to whole ms; continuous: to whole us.
  static std::shared_ptr<const Schedule> poisson(double rate_mbps, uint64_t seed, int64_t period_ms,
                                                 Timing timing = Timing::mahimahi);
  // A rate that changes, over the period of `rate_mbps`, at whose end there is always an opportunity.
  // Constant: as many opportunities as fit, evenly spaced by what the rate has carried and rounded up;
  // Poisson: as above.
  static std::shared_ptr<const Schedule> varying(const StepFunction& rate_mbps, Arrivals arrivals,
                                                 uint64_t seed, Timing timing = Timing::mahimahi);
  // mahimahi's rules: not empty, never decreasing, the last one (the period) above zero.
  static std::shared_ptr<const Schedule> trace(std::vector<uint32_t> timestamps_ms,
                                               Ending ending = Ending::repeats);
  // The factories throw std::invalid_argument that says what is wrong and what would be right.

  // The same opportunities, with time 0 at `begin_ms` of this schedule.
  [[nodiscard]] std::shared_ptr<const Schedule> beginning_at(int64_t begin_ms) const;

  [[nodiscard]] bool is_constant() const { return timestamps_ == nullptr; }
  [[nodiscard]] bool repeats() const { return ending_ == Ending::repeats; }
  [[nodiscard]] int64_t period_ms() const { return period_ms_; }
  [[nodiscard]] int64_t opportunities_per_period() const { return opportunities_; }
  [[nodiscard]] double mean_rate_mbps() const { return mean_rate_mbps_; }  // over one period
  [[nodiscard]] int64_t count_through(int64_t ms) const;                   // opportunities at or before `ms`
  [[nodiscard]] int64_t last_through(int64_t ms) const;  // the latest opportunity at or before `ms`; 0: none
  [[nodiscard]] std::vector<uint32_t> opportunities_ms() const;  // one period: the lines of a trace file
  // The opportunities of one period since the origin, in ticks of tick_ns(); empty for a constant rate, which
  // needs no list.
  [[nodiscard]] std::span<const uint32_t> timestamps() const;
  // Time 0 of the schedule is `begin_ms` after its origin, and so many opportunities are until then.
  [[nodiscard]] int64_t begin_ms() const { return begin_ms_; }
  [[nodiscard]] int64_t opportunities_before_begin() const { return opportunities_before_begin_; }
  [[nodiscard]] int64_t tick_ns() const { return tick_ns_; }

 private:
  Schedule(double rate_mbps, int64_t period_ms, int64_t opportunities);
  Schedule(std::vector<uint32_t> timestamps, int64_t period_ms, Ending ending, int64_t tick_ns);
  // The period is the time of the last timestamp.
  static std::shared_ptr<const Schedule> repeating(std::vector<uint32_t> timestamps, int64_t tick_ns);

  // Opportunities from the origin until `ms` after it, inclusive.
  [[nodiscard]] int64_t count_since_origin(int64_t ms) const;
  // When opportunity number `number` is, in ms after the origin; the first is number 1.
  [[nodiscard]] int64_t time_since_origin_ms(int64_t number) const;

  int64_t period_ms_;
  int64_t opportunities_;
  double mean_rate_mbps_;
  std::shared_ptr<const std::vector<uint32_t>> timestamps_{};  // none for a constant rate
  int64_t begin_ms_{0};                                        // after the origin, within the first period
  int64_t opportunities_before_begin_{0};                      // including those at begin_ms_
  Ending ending_{Ending::repeats};
  int64_t tick_ns_{kNsPerMs};
};

}  // namespace ccgym
