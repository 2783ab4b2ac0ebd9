// SCReAM's target of the queuing delay (RFC 8298, section 4.1.2.3). It rises while buffer-filling flows
// compete, which show in losses or in a stable queuing delay.
#pragma once

#include <array>
#include <cstddef>

namespace ccgym {

class QdelayTarget {
 public:
  void note_loss() { lost_in_round_ = true; }
  void end_round_trip();         // to be called once per round trip
  void update(double qdelay_s);  // a sample of the queuing delay, to be called every 50 ms

  [[nodiscard]] double seconds() const { return seconds_; }  // the target
  [[nodiscard]] double loss_event_rate() const {
    return loss_event_rate_;
  }  // share of round trips with losses

 private:
  static constexpr std::size_t kHistory = 200;  // qdelay_norm_history
  static constexpr std::size_t kRecent = 50;    // of which the average is taken
  static constexpr double kLowSeconds = 0.1;    // QDELAY_TARGET_LO

  [[nodiscard]] double recent_average() const;
  [[nodiscard]] double variance() const;

  double seconds_{kLowSeconds};
  std::array<double, kHistory> norms_{};  // qdelay / QDELAY_TARGET_LO
  std::size_t samples_{0};
  double loss_event_rate_{0};  // share of round trips with losses
  bool lost_in_round_{false};
};

}  // namespace ccgym
