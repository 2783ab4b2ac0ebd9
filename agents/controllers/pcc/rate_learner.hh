// PCC's learning algorithm: chooses the rate of each monitor interval and receives its result.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>

#include "agents/controllers/pcc/monitor_interval.hh"

namespace ccgym {

class RateLearner {
 public:
  struct Trial {
    int id{};
    double rate_mbps{};
  };
  static constexpr int kNoTrial = -1;  // the id of an interval whose result is not used

  static constexpr double kMinRateMbps = 0.25;  // some twenty packets per second, for regular feedback
  static constexpr double kMaxRateMbps = 10'000;
  static double in_bounds(double rate_mbps) { return std::clamp(rate_mbps, kMinRateMbps, kMaxRateMbps); }

  RateLearner() = default;
  RateLearner(const RateLearner&) = default;
  RateLearner& operator=(const RateLearner&) = default;
  virtual ~RateLearner() = default;
  [[nodiscard]] virtual std::unique_ptr<RateLearner> clone() const = 0;

  [[nodiscard]] virtual std::string_view name() const = 0;
  // Called once, with the rate of the first monitor interval.
  virtual void start(double rate_mbps) = 0;
  // Chooses the rate of the next monitor interval, which is about to begin.
  virtual Trial next() = 0;
  // The result of a monitor interval. Returns true if the rate should change now, before the end of the open
  // interval: a new one then begins (Allegro section 3.1: intervals are aligned with changes of the rate).
  virtual bool learn(const MonitorInterval& result) = 0;
};

}  // namespace ccgym
