// What PCC learns with: it names the rate of each monitor interval and is told what became of it.
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
  static constexpr int kNoTrial = -1;  // an interval nobody learns from

  static constexpr double kMinRateMbps = 0.25;  // some twenty packets a second keep feedback coming
  static constexpr double kMaxRateMbps = 10'000;
  static double in_bounds(double rate_mbps) { return std::clamp(rate_mbps, kMinRateMbps, kMaxRateMbps); }

  RateLearner() = default;
  RateLearner(const RateLearner&) = default;
  RateLearner& operator=(const RateLearner&) = default;
  virtual ~RateLearner() = default;
  [[nodiscard]] virtual std::unique_ptr<RateLearner> clone() const = 0;

  [[nodiscard]] virtual std::string_view name() const = 0;
  // The flow begins to learn, at this rate.
  virtual void start(double rate_mbps) = 0;
  // The next monitor interval begins.
  virtual Trial next() = 0;
  // A monitor interval has been accounted for. True: the rate is to change now, not at the end of the open
  // interval (Allegro section 3.1: intervals are aligned with changes of the rate).
  virtual bool learn(const MonitorInterval& result) = 0;
};

}  // namespace ccgym
