// PCC's start: the rate doubles with every monitor interval until the utility falls (Allegro section 3.2).
#pragma once

#include <limits>
#include <optional>

namespace ccgym {

class StartingPhase {
 public:
  void start(double rate_mbps) { rate_mbps_ = rate_mbps / kStep; }

  // The next interval's rate: held while the network has not yet answered the doublings before.
  double next() {
    if (++unanswered_ <= kMaxUnanswered) rate_mbps_ *= kStep;
    return rate_mbps_;
  }

  // The rate to fall back to, once the utility has fallen.
  std::optional<double> learn(double rate_mbps, double utility) {
    --unanswered_;
    if (best_rate_mbps_ > 0 && utility <= best_utility_) return best_rate_mbps_;
    best_utility_ = utility;
    best_rate_mbps_ = rate_mbps;
    return std::nullopt;
  }

 private:
  static constexpr double kStep = 2;
  static constexpr int kMaxUnanswered = 2;  // an answer takes an RTT, an interval lasts one or two

  double rate_mbps_{0};
  int unanswered_{0};
  double best_rate_mbps_{0};
  double best_utility_{std::numeric_limits<double>::lowest()};
};

}  // namespace ccgym
