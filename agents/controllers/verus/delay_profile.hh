// Verus's delay profile (SIGCOMM 2015, section 4.2): the delay as a function of the sending window. Each
// window has a point, the moving average of its delays; a cubic spline goes through the points.
#pragma once

#include <vector>

namespace ccgym {

class DelayProfile {
 public:
  // A packet that was sent under a window of `window_packets`, at least 1, had the RTT `delay_ms`.
  void add(double window_packets, double delay_ms);

  // Recomputes the spline through all points (in the paper every second). No effect before the first point.
  void interpolate();
  void clear();

  [[nodiscard]] bool empty() const { return curve_.empty(); }
  // The spline, continued by a straight line beyond the largest window seen; only when not empty.
  [[nodiscard]] double delay_ms(double window_packets) const;
  // The inverse: the largest window with at most that delay, at least 1; only when not empty.
  [[nodiscard]] double window_packets(double delay_ms) const;

 private:
  [[nodiscard]] double end_slope() const;

  std::vector<double> points_{};  // delay in ms of window 1, 2, ...; negative: no packet yet
  std::vector<double> curve_{};   // the spline at window 1, 2, ..., in ms; never decreases
};

}  // namespace ccgym
