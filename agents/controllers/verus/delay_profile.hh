// Verus's delay profile (SIGCOMM 2015, section 4.2): which delay each sending window has led to, as points
// averaged over time and a cubic spline through them.
#pragma once

#include <cstddef>
#include <vector>

namespace ccgym {

class DelayProfile {
 public:
  // A packet sent under a window of so many packets, at least 1, met this delay.
  void add(double window_packets, double delay_ms);

  // Lays the spline anew through all points (the paper: every second). No effect before the first point.
  void interpolate();
  void clear();

  [[nodiscard]] bool empty() const { return curve_.empty(); }
  // The spline, going on straight beyond the largest window seen; only when not empty.
  [[nodiscard]] double delay_ms(double window_packets) const;
  // The largest window up to which the spline stays within the delay; at least 1; only when not empty.
  [[nodiscard]] double window_packets(double delay_ms) const;

 private:
  [[nodiscard]] double end_slope() const;

  std::vector<double> points_{};  // by window, from 1; below zero: none
  std::vector<double> curve_{};   // the spline at each whole window
};

}  // namespace ccgym
