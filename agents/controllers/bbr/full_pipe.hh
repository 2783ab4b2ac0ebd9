// Startup's end: three rounds in which the bandwidth grew by less than a quarter
// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.2.2).
#pragma once

namespace ccgym {

class FullPipe {
 public:
  // Once per round, with the largest bandwidth so far.
  void on_round(double max_bw_mbps) {
    if (max_bw_mbps >= kGrowth * full_bw_mbps_) {
      full_bw_mbps_ = max_bw_mbps;
      rounds_ = 0;
    } else {
      ++rounds_;
    }
    reached_ |= rounds_ >= kRounds;
  }

  void declare() { reached_ = true; }
  // Looks for growth anew; what has been reached stays so.
  void forget_growth() {
    full_bw_mbps_ = 0;
    rounds_ = 0;
  }

  [[nodiscard]] bool reached() const { return reached_; }

 private:
  static constexpr double kGrowth = 1.25;
  static constexpr int kRounds = 3;

  double full_bw_mbps_{0};
  int rounds_{0};
  bool reached_{false};
};

}  // namespace ccgym
