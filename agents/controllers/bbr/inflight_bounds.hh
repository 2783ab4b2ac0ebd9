// Bounds that follow from losses and marks: on the inflight in the long term, and on inflight and bandwidth
// in the short term, until the next probe (draft-ietf-ccwg-bbr-06: inflight_longterm, inflight_shortterm,
// bw_shortterm).
#pragma once

#include <algorithm>
#include <limits>

namespace ccgym {

struct InflightBounds {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  static constexpr double kBeta = 0.7;            // section 2.8
  static constexpr double kMarkFactor = 1.0 / 3;  // Google's BBR v3: times the share of marks (see EcnShare)

  double longterm_bytes{kNone};
  double shortterm_bytes{kNone};
  double shortterm_bw_mbps{kNone};

  // Section 5.5.10.3: after losses the short-term bounds fall by 30 %, but not below what was delivered in
  // the last round.
  void lower_for_losses(double delivered_bytes, double delivered_mbps, double max_bw_mbps) {
    if (shortterm_bw_mbps == kNone) shortterm_bw_mbps = max_bw_mbps;
    shortterm_bw_mbps = std::max(delivered_mbps, kBeta * shortterm_bw_mbps);
    shortterm_bytes = std::max(delivered_bytes, kBeta * shortterm_bytes);
  }
  // What the short-term bound on the inflight becomes if `share` of the packets is marked.
  [[nodiscard]] double lowered_for_marks(double share) const {
    return (1 - kMarkFactor * share) * shortterm_bytes;
  }
  // Sets the short-term bound on the inflight to cwnd if there is none.
  void begin_short_term(double cwnd_bytes) {
    if (shortterm_bytes == kNone) shortterm_bytes = cwnd_bytes;
  }
  void forget_short_term() { shortterm_bw_mbps = shortterm_bytes = kNone; }

  // Takes the larger of both for each bound, because the losses that lowered it were spurious.
  void widen(const InflightBounds& other) {
    longterm_bytes = std::max(longterm_bytes, other.longterm_bytes);
    shortterm_bytes = std::max(shortterm_bytes, other.shortterm_bytes);
    shortterm_bw_mbps = std::max(shortterm_bw_mbps, other.shortterm_bw_mbps);
  }
};

}  // namespace ccgym
