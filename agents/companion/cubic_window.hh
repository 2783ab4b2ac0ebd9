// The window of one more Cubic flow (RFC 9438; section and equation numbers are those of the RFC) that also
// knows what an even share would be. A policy uses it while a rival fills the queue.
#pragma once

#include <span>

#include "transport/congestion_controller.hh"

namespace ccgym {

class CubicWindow {
 public:
  CubicWindow() = default;
  // Begins at `packets` and grows towards `even_packets`, an even share with one rival.
  CubicWindow(Time now, double packets, double even_packets)
      : packets_{packets}, start_packets_{even_packets}, max_packets_{even_packets}, began_{now} {}

  // Sections 4.2 to 4.5. Returns the window at `now`, at most `most_packets`.
  double grow(Time now, const RttStats& rtt, double most_packets);
  // Sections 4.6 and 4.7: one reduction for all losses of a round trip. Returns the window after it. If the
  // window is far below an even share, the next W_max is moved towards that share.
  double reduce(Time now, std::span<const LostPacket> lost, double even_packets);
  // Section 4.9: restores the window before the last reduction, unless the window is that large again.
  void undo_reduction(Time now);

  [[nodiscard]] double packets() const { return packets_; }
  [[nodiscard]] double prior_packets() const { return prior_packets_; }  // before the last reduction

 private:
  [[nodiscard]] double next_max_packets(double least_packets) const;

  double packets_{0};
  double start_packets_{0};  // window at the start of the epoch
  double max_packets_{0};    // W_max
  double prior_packets_{0};  // cwnd_prior: before the last reduction
  double reno_packets_{0};   // W_est, eq. 4
  Time began_{};             // start of the epoch
  Time grown_at_{};
};

}  // namespace ccgym
