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
    latency,  // of the released sender, https://github.com/modong/pcc, which Pantheon and others measured
    loss      // section 2.2: the safe utility function
  };
  struct Config {
    Utility utility{Utility::latency};
  };
  static constexpr Pcc::IntervalRtts kIntervalRtts{1.7, 2.2};  // section 3.1

  Allegro(const Config& config, uint64_t seed) : utility_{config.utility}, random_{seed} {}

  // Section 2.2: u(x) = T Sigmoid(L - 0.05) - x L, with T = x (1 - L), the rate x in Mbit/s and the loss rate
  // L.
  static double loss_utility(double rate_mbps, double loss_rate);
  // The released sender's, after section 4.4.1: u(x) = (T Sigmoid(L - 0.05) Sigmoid'(1 - RTT_before / RTT) -
  // x L) / RTT. Sigmoid' has a tenth of Sigmoid's slope; RTT and RTT_before are the last ones of this monitor
  // interval and of the one before.
  static double latency_utility(double rate_mbps, double loss_rate, double rtt_s, double rtt_before_s);

  [[nodiscard]] std::string_view name() const override { return "allegro"; }
  [[nodiscard]] std::unique_ptr<RateLearner> clone() const override {
    return std::make_unique<Allegro>(*this);
  }
  void start(double rate_mbps) override { starting_.start(in_bounds(rate_mbps)); }
  Trial next() override;
  bool learn(const MonitorInterval& result) override;

  [[nodiscard]] double rate_mbps() const { return rate_mbps_; }  // r: the base rate, around which trials vary

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
  double epsilon_{};  // relative offset of the trial rates from r
  int next_trial_{0};
  int known_trials_{0};  // whose results are known
  int first_id_{0};  // of this round of trials: ids only grow, and late results of older rounds are ignored
  int next_id_{0};
  std::array<double, kTrials> directions_{};
  std::array<double, kTrials> utilities_{};
  double direction_{0};  // of the rate adjusting phase: 1 or -1
  int steps_{0};         // n of the rate adjusting phase
  double rate_before_mbps_{0};
  double utility_before_{0};
  double rtt_before_s_{0};
};

}  // namespace ccgym
