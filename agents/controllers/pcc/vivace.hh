// PCC Vivace, after Dong et al., "PCC Vivace: Online-Learning Congestion Control", NSDI 2018 (section and
// equation numbers are the paper's). RTT slopes within the noise are ignored, as in the authors' later Meng
// et al., "PCC Proteus: Scavenger Transport And Beyond", SIGCOMM 2020: otherwise, with the latency
// coefficient of 900, the rate does a random walk on every path with jitter. The released sender:
// https://github.com/PCCproject/PCC-Uspace.
#pragma once

#include <array>
#include <optional>

#include "agents/controllers/pcc/pcc.hh"
#include "agents/controllers/pcc/rate_learner.hh"
#include "agents/controllers/pcc/starting.hh"
#include "transport/random.hh"

namespace ccgym {

class Vivace final : public RateLearner {
 public:
  enum class Utility { latency, loss };
  struct Config {
    Utility utility{Utility::latency};
  };
  static constexpr Pcc::IntervalRtts kIntervalRtts{1, 1};  // section 5: one RTT

  Vivace(const Config& config, uint64_t seed) : utility_{config.utility}, random_{seed} {}

  // Eq. 1: u(x) = x^t - b x d(RTT)/dT - c x L, x in Mbit/s; the loss utility has b = 0.
  static double utility(Utility kind, double rate_mbps, double rtt_slope, double loss_rate);
  // d(RTT)/dT in s/s; 0 if it is within the noise of the RTTs.
  static double rtt_slope(const RttLine& rtts);
  // Section 4.2: m(tau), after tau further gradients of the same sign.
  static double confidence_amplifier(int same_sign);

  [[nodiscard]] std::string_view name() const override { return "vivace"; }
  [[nodiscard]] std::unique_ptr<RateLearner> clone() const override {
    return std::make_unique<Vivace>(*this);
  }
  void start(double rate_mbps) override { starting_.start(in_bounds(rate_mbps)); }
  Trial next() override;
  bool learn(const MonitorInterval& result) override;

  [[nodiscard]] double rate_mbps() const { return rate_mbps_; }  // r: the base rate, around which trials vary
  // One step of gradient ascent; `gradient` is gamma, in utility per Mbit/s (sections 4.2 and 4.3).
  void ascend(double gradient);

 private:
  static constexpr int kTrials = 2;  // r (1 + epsilon) and r (1 - epsilon), in random order

  bool learn_start(const MonitorInterval& result, double value);
  void learn_pair();
  void begin_trials();
  double bounded(double change_mbps);

  Utility utility_;
  Random random_;
  StartingPhase starting_{/*max_unanswered=*/1};  // intervals are half as long as Allegro's
  bool is_starting_{true};
  double rate_mbps_{0};
  int next_trial_{0};
  int known_trials_{0};
  int first_id_{0};
  int next_id_{0};
  std::array<double, kTrials> directions_{};
  std::array<double, kTrials> utilities_{};
  std::array<double, kTrials> rtt_slopes_{};
  std::optional<double> doubted_gradient_{};  // of an abnormal pair, while it is tried again
  int same_sign_{0};                          // tau
  double last_sign_{0};                       // of the gradient
  int boundary_level_{0};                     // k
};

}  // namespace ccgym
