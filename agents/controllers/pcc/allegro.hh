// PCC Allegro, after Dong et al., "PCC: Re-architecting Congestion Control for Consistent High Performance",
// NSDI 2015 (section numbers are the paper's).
#pragma once

#include <array>

#include "agents/controllers/pcc/pcc.hh"
#include "agents/controllers/pcc/rate_learner.hh"
#include "agents/controllers/pcc/starting.hh"
#include "transport/random.hh"

namespace ccgym {

class Allegro final : public RateLearner {
 public:
  enum class Utility {
    latency,  // the released sender's, https://github.com/modong/pcc: what Pantheon and others measured
    loss      // section 2.2: the safe utility
  };
  struct Config {
    Utility utility{Utility::latency};
  };
  static constexpr Pcc::IntervalRtts kIntervalRtts{1.7, 2.2};  // section 3.1

  Allegro(const Config& config, uint64_t seed) : utility_{config.utility}, random_{seed} {}

  // Section 2.2: u(x) = T Sigmoid(L - 0.05) - x L, with T = x (1 - L) and x in Mbit/s.
  static double loss_utility(double rate_mbps, double loss_rate);
  // As released, after section 4.4.1: u(x) = (T Sigmoid(L - 0.05) Sigmoid'(1 - RTT_before / RTT) - x L) /
  // RTT, where Sigmoid' falls ten times as slowly, and an RTT is the one at the end of a monitor interval.
  static double latency_utility(double rate_mbps, double loss_rate, double rtt_s, double rtt_before_s);

  [[nodiscard]] std::string_view name() const override { return "allegro"; }
  [[nodiscard]] std::unique_ptr<RateLearner> clone() const override {
    return std::make_unique<Allegro>(*this);
  }
  void start(double rate_mbps) override { starting_.start(in_bounds(rate_mbps)); }
  Trial next() override;
  bool learn(const MonitorInterval& result) override;

  [[nodiscard]] double rate_mbps() const { return rate_mbps_; }  // r, outside of trials

 private:
  enum class Phase { starting, deciding, adjusting };
  static constexpr int kTrials = 4;  // section 3.2: two pairs, each in random order

  double utility_of(const MonitorInterval& result);
  bool learn_start(const MonitorInterval& result, double utility);
  bool learn_decision(const MonitorInterval& result, double utility);
  bool learn_adjustment(const MonitorInterval& result, double utility);
  bool decide();
  void begin_trials();
  void step();

  Utility utility_;
  Random random_;
  StartingPhase starting_{/*max_unanswered=*/2};  // section 3.2: doubles with each consecutive interval
  Phase phase_{Phase::starting};
  double rate_mbps_{0};
  double epsilon_{};
  int next_trial_{0};
  int known_trials_{0};
  int first_id_{0};  // ids of trials grow, so that a late result of an older round is told apart
  int next_id_{0};
  std::array<double, kTrials> directions_{};
  std::array<double, kTrials> utilities_{};
  double direction_{0};
  int steps_{0};
  double rate_before_mbps_{0};
  double utility_before_{0};
  double rtt_before_s_{0};
};

}  // namespace ccgym
