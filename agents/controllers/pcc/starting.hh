// PCC's starting phase: the rate doubles with every monitor interval until the utility falls (Allegro
// section 3.2).
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "agents/controllers/pcc/rate_learner.hh"

namespace ccgym {

class StartingPhase {
 public:
  // The rate is held while the results of `max_unanswered` doublings are outstanding.
  explicit StartingPhase(int max_unanswered) : max_unanswered_{max_unanswered} {}

  void start(double rate_mbps) { next_rate_mbps_ = rate_mbps; }

  // The next trial; kNoTrial while the rate is held.
  RateLearner::Trial next() {
    if (unanswered_ == max_unanswered_) return {RateLearner::kNoTrial, rate_mbps_};
    ++unanswered_;
    rate_mbps_ = RateLearner::in_bounds(std::exchange(next_rate_mbps_, next_rate_mbps_ * kStep));
    return {kDoubling, rate_mbps_};
  }

  // The rate with the highest utility, once the utility has fallen, which ends the phase; nullopt before.
  std::optional<double> learn(const MonitorInterval& result, double utility) {
    if (result.trial != kDoubling) return std::nullopt;
    --unanswered_;
    // As RFC 9002, section 7.8: a rate that was not used is no trial, and does not grow.
    if (result.held_back) {
      next_rate_mbps_ = std::min(next_rate_mbps_, kStep * result.rate_mbps);
      return std::nullopt;
    }
    if (best_rate_mbps_ > 0 && utility <= best_utility_) return RateLearner::in_bounds(best_rate_mbps_);
    best_utility_ = utility;
    best_rate_mbps_ = result.rate_mbps;
    return std::nullopt;
  }

 private:
  static constexpr int kDoubling = 0;
  static constexpr double kStep = 2;

  int max_unanswered_;
  double rate_mbps_{0};
  double next_rate_mbps_{0};
  int unanswered_{0};
  double best_rate_mbps_{0};
  double best_utility_{std::numeric_limits<double>::lowest()};
};

}  // namespace ccgym
