// The end of Startup: the pipe is full if the bandwidth estimate has not grown by 25 % in three rounds
// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.2.2).
#pragma once

namespace ccgym {

class FullPipe {
 public:
  // Once per round, with the present bandwidth estimate.
  void on_round(double max_bw_mbps) {
    if (max_bw_mbps >= kGrowth * full_bw_mbps_) {
      full_bw_mbps_ = max_bw_mbps;
      rounds_ = 0;
    } else {
      ++rounds_;
    }
    reached_ |= rounds_ >= kRounds;
  }

  // Begins to look for growth again; a pipe that was found full remains so.
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
