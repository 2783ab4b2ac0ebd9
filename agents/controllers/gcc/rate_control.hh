// Rate control of Google Congestion Control (draft-ietf-rmcat-gcc-02): by delay, section 5.5, and by loss,
// section 6.
#pragma once

#include "agents/controllers/gcc/overuse_detector.hh"

namespace ccgym {

// The delay-based rate A_hat, with the states increase, hold and decrease (section 5.5).
class DelayBasedRate {
 public:
  explicit DelayBasedRate(double rate_mbps) : rate_mbps_{rate_mbps} {}

  struct Conditions {
    double incoming_mbps{};  // R_hat, over the last half second
    Time rtt{};              // smoothed
  };
  // To be called for each signal of the over-use detector.
  void update(Time now, LinkUse use, const Conditions& conditions);

  [[nodiscard]] double rate_mbps() const { return rate_mbps_; }

 private:
  enum class State { increase, hold, decrease };

  struct Convergence {  // of R_hat at decreases; exponentially weighted
    double mean_mbps{};
    double variance{};  // divided by the mean, in Mbit/s, because it grows with the rate
  };

  static State next_state(State state, LinkUse use);
  void increase(double elapsed_s, const Conditions& conditions);
  void decrease(double incoming_mbps);
  void note_decrease(double incoming_mbps);
  [[nodiscard]] bool is_near_convergence(double incoming_mbps);

  double rate_mbps_;
  State state_{State::increase};
  Time updated_at_{};
  std::optional<Convergence> convergence_{};
};

// The loss-based rate A_s_hat (section 6).
class LossBasedRate {
 public:
  explicit LossBasedRate(double rate_mbps) : rate_mbps_{rate_mbps} {}

  void update(double loss_share);   // lost packets / all packets, since the last call
  void bound(double highest_mbps);  // so that it does not grow far above the delay-based rate

  [[nodiscard]] double rate_mbps() const { return rate_mbps_; }

 private:
  double rate_mbps_;
};

}  // namespace ccgym
