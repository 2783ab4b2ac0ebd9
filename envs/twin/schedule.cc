#include "envs/twin/schedule.hh"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "transport/random.hh"

namespace ccgym {

namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr double kOpportunitiesPerMinutePerMbps = 5000;  // of 1500 bytes
constexpr double kMsPerOpportunityAtOneMbps = 12;        // 1500 bytes * 8 / 1 Mbit/s
constexpr double kMaxRateMbps = 1e6;
constexpr double kMaxOpportunities = 5e7;

void require_rate(double rate_mbps) {
  if (rate_mbps > 0 && rate_mbps <= kMaxRateMbps) return;  // false for NaN
  throw std::invalid_argument("rate_mbps " + std::to_string(rate_mbps) + " is not within (0, 1000000]");
}

double end_ms(const StepFunction& function, std::size_t step) {
  return step + 1 < function.starts_ms.size() ? function.starts_ms[step + 1] : function.period_ms;
}

double carried_opportunities(const StepFunction& rate_mbps) {
  double carried = 0;
  for (std::size_t i = 0; i < rate_mbps.values.size(); ++i) {
    carried +=
        (end_ms(rate_mbps, i) - rate_mbps.starts_ms[i]) * rate_mbps.values[i] / kMsPerOpportunityAtOneMbps;
  }
  return carried;
}

// Calls `at(ms)` at each time when the number of opportunities that the rate has carried reaches the last
// result of `next()`, a number that increases.
template <class Next, class At>
void walk_opportunities(const StepFunction& rate_mbps, Next&& next, At&& at) {
  double carried = 0;
  double due = next();
  for (std::size_t i = 0; i < rate_mbps.values.size(); ++i) {
    const double per_ms = rate_mbps.values[i] / kMsPerOpportunityAtOneMbps;
    const double begun = carried;
    carried += (end_ms(rate_mbps, i) - rate_mbps.starts_ms[i]) * per_ms;
    for (; due <= carried && per_ms > 0; due = next()) at(rate_mbps.starts_ms[i] + (due - begun) / per_ms);
  }
}

int64_t tick_of(Timing timing) { return timing == Timing::continuous ? kNsPerUs : kNsPerMs; }

double ticks_per_ms(int64_t tick_ns) { return static_cast<double>(kNsPerMs) / static_cast<double>(tick_ns); }

std::vector<uint32_t> even_times(const StepFunction& rate_mbps, double total, int64_t tick_ns) {
  std::vector<uint32_t> times;
  const double count = std::max(1.0, std::round(total));
  double number = 0;
  walk_opportunities(
      rate_mbps, [&] { return ++number * total / count; },
      [&](double ms) {
        const double due_ms = std::min(ms, rate_mbps.period_ms);
        times.push_back(static_cast<uint32_t>(std::ceil(due_ms * ticks_per_ms(tick_ns))));
      });
  return times;
}

std::vector<uint32_t> poisson_times(const StepFunction& rate_mbps, uint64_t seed, int64_t tick_ns) {
  std::vector<uint32_t> times;
  Random random{seed};
  double carried = 0;
  walk_opportunities(
      rate_mbps, [&] { return carried += random.exponential(1); },
      [&](double ms) { times.push_back(static_cast<uint32_t>(ms * ticks_per_ms(tick_ns))); });
  return times;
}

// The period in ticks, which is the last timestamp of its schedule.
uint32_t period_ticks(double period_ms, int64_t tick_ns) {
  const double ticks = std::ceil(period_ms) * ticks_per_ms(tick_ns);
  if (ticks >= 1 && ticks <= std::numeric_limits<uint32_t>::max()) return static_cast<uint32_t>(ticks);
  throw std::invalid_argument("period_ms " + std::to_string(period_ms) + " is not within [1, " +
                              std::to_string(std::numeric_limits<uint32_t>::max() * tick_ns / kNsPerMs) +
                              "]");
}

}  // namespace

Schedule::Schedule(double rate_mbps, int64_t period_ms, int64_t opportunities)
    : period_ms_(period_ms), opportunities_(opportunities), mean_rate_mbps_(rate_mbps) {}

Schedule::Schedule(std::vector<uint32_t> timestamps, int64_t period_ms, Ending ending, int64_t tick_ns)
    : period_ms_(period_ms),
      opportunities_(static_cast<int64_t>(timestamps.size())),
      mean_rate_mbps_(kMsPerOpportunityAtOneMbps * static_cast<double>(opportunities_) /
                      static_cast<double>(period_ms_)),
      timestamps_(std::make_shared<const std::vector<uint32_t>>(std::move(timestamps))),
      ending_(ending),
      tick_ns_(tick_ns) {}

std::shared_ptr<const Schedule> Schedule::constant(double rate_mbps) {
  require_rate(rate_mbps);
  const int64_t per_minute = std::max<int64_t>(1, std::llround(rate_mbps * kOpportunitiesPerMinutePerMbps));
  const int64_t divisor = std::gcd(per_minute, kMinuteMs);
  return std::shared_ptr<const Schedule>(new Schedule(rate_mbps, kMinuteMs / divisor, per_minute / divisor));
}

std::shared_ptr<const Schedule> Schedule::beginning_at(int64_t begin_ms) const {
  if (begin_ms < 0 || !repeats())
    throw std::invalid_argument("only a schedule that repeats has other beginnings, from 0 ms on");
  const std::shared_ptr<Schedule> later(new Schedule(*this));
  later->begin_ms_ = (begin_ms_ + begin_ms) % period_ms_;
  later->opportunities_before_begin_ = count_since_origin(later->begin_ms_);
  return later;
}

std::shared_ptr<const Schedule> Schedule::repeating(std::vector<uint32_t> timestamps, int64_t tick_ns) {
  const int64_t period_ms = timestamps.back() * tick_ns / kNsPerMs;
  return std::shared_ptr<const Schedule>(
      new Schedule(std::move(timestamps), period_ms, Ending::repeats, tick_ns));
}

std::shared_ptr<const Schedule> Schedule::poisson(double rate_mbps, uint64_t seed, int64_t period_ms,
                                                  Timing timing) {
  require_rate(rate_mbps);
  const int64_t tick_ns = tick_of(timing);
  const uint32_t end = period_ticks(static_cast<double>(period_ms), tick_ns);
  Random random{seed};
  std::vector<uint32_t> timestamps;
  const double mean_gap_ms = kMsPerOpportunityAtOneMbps / rate_mbps;
  for (double at = random.exponential(mean_gap_ms); at < static_cast<double>(period_ms);
       at += random.exponential(mean_gap_ms)) {
    timestamps.push_back(static_cast<uint32_t>(at * ticks_per_ms(tick_ns)));
  }
  timestamps.push_back(end);
  return repeating(std::move(timestamps), tick_ns);
}

std::shared_ptr<const Schedule> Schedule::varying(const StepFunction& rate_mbps, Arrivals arrivals,
                                                  uint64_t seed, Timing timing) {
  const double total = carried_opportunities(checked(rate_mbps));
  if (total > kMaxOpportunities)
    throw std::invalid_argument(std::to_string(total) +
                                " opportunities in a period are more than 50 million");
  const int64_t tick_ns = tick_of(timing);
  const uint32_t end = period_ticks(rate_mbps.period_ms, tick_ns);
  std::vector<uint32_t> timestamps = arrivals == Arrivals::poisson ? poisson_times(rate_mbps, seed, tick_ns)
                                                                   : even_times(rate_mbps, total, tick_ns);
  if (timestamps.empty() || timestamps.back() != end) timestamps.push_back(end);
  return repeating(std::move(timestamps), tick_ns);
}

std::shared_ptr<const Schedule> Schedule::trace(std::vector<uint32_t> timestamps_ms, Ending ending) {
  if (timestamps_ms.empty()) throw std::invalid_argument("a trace needs at least one timestamp");
  const auto fall = std::ranges::adjacent_find(timestamps_ms, std::greater<>{});
  if (fall != timestamps_ms.end()) {
    throw std::invalid_argument("timestamp " +
                                std::to_string(std::distance(timestamps_ms.begin(), fall) + 2) +
                                " of the trace is smaller than the one before it: they must not decrease");
  }
  if (timestamps_ms.back() == 0)
    throw std::invalid_argument("the last timestamp of a trace, its period, must not be 0");
  const int64_t period_ms = timestamps_ms.back();
  return std::shared_ptr<const Schedule>(new Schedule(std::move(timestamps_ms), period_ms, ending, kNsPerMs));
}

std::span<const uint32_t> Schedule::timestamps() const {
  return is_constant() ? std::span<const uint32_t>{} : std::span{*timestamps_};
}

int64_t Schedule::count_through(int64_t ms) const {
  if (ms < 0) return 0;
  return count_since_origin(begin_ms_ + ms) - opportunities_before_begin_;
}

int64_t Schedule::last_through(int64_t ms) const {
  const int64_t number = count_through(ms);
  return number == 0 ? 0 : time_since_origin_ms(opportunities_before_begin_ + number) - begin_ms_;
}

int64_t Schedule::count_since_origin(int64_t ms) const {
  if (!repeats() && ms >= period_ms_) return opportunities_;
  if (is_constant()) return ms * opportunities_ / period_ms_;
  const auto begun = std::ranges::upper_bound(*timestamps_, ms % period_ms_ * kNsPerMs / tick_ns_);
  return ms / period_ms_ * opportunities_ + std::distance(timestamps_->begin(), begun);
}

int64_t Schedule::time_since_origin_ms(int64_t number) const {
  if (is_constant()) return (number * period_ms_ + opportunities_ - 1) / opportunities_;
  const int64_t before = number - 1;
  return before / opportunities_ * period_ms_ +
         (*timestamps_)[static_cast<std::size_t>(before % opportunities_)] * tick_ns_ / kNsPerMs;
}

std::vector<uint32_t> Schedule::opportunities_ms() const {
  std::vector<uint32_t> lines(static_cast<std::size_t>(opportunities_));
  int64_t number = opportunities_before_begin_;
  for (uint32_t& line : lines) line = static_cast<uint32_t>(time_since_origin_ms(++number) - begin_ms_);
  return lines;
}

}  // namespace ccgym
