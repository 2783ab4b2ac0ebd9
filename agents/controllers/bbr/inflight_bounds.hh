// Bounds learnt from losses and marks: how much may be in flight in the long term, and until the next probing
// (draft-ietf-ccwg-bbr-06: inflight_longterm, inflight_shortterm, bw_shortterm).
#pragma once

#include <algorithm>
#include <limits>

namespace ccgym {

struct InflightBounds {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  static constexpr double kBeta = 0.7;            // section 2.8
  static constexpr double kMarkFactor = 1.0 / 3;  // of the share of marks: see EcnShare

  double longterm_bytes{kNone};
  double shortterm_bytes{kNone};
  double shortterm_bw_mbps{kNone};

  // Section 5.5.10.3: after losses, at least what was delivered recently.
  void lower_for_losses(double delivered_bytes, double delivered_mbps, double max_bw_mbps) {
    if (shortterm_bw_mbps == kNone) shortterm_bw_mbps = max_bw_mbps;
    shortterm_bw_mbps = std::max(delivered_mbps, kBeta * shortterm_bw_mbps);
    shortterm_bytes = std::max(delivered_bytes, kBeta * shortterm_bytes);
  }
  // The short-term bound on the inflight after marks on this share of the packets; other bounds stay.
  [[nodiscard]] double lowered_for_marks(double share) const {
    return (1 - kMarkFactor * share) * shortterm_bytes;
  }
  void begin_short_term(double cwnd_bytes) {
    if (shortterm_bytes == kNone) shortterm_bytes = cwnd_bytes;
  }
  void forget_short_term() { shortterm_bw_mbps = shortterm_bytes = kNone; }

  // Takes the wider of both for each bound: the losses that narrowed this one were spurious.
  void widen(const InflightBounds& other) {
    longterm_bytes = std::max(longterm_bytes, other.longterm_bytes);
    shortterm_bytes = std::max(shortterm_bytes, other.shortterm_bytes);
    shortterm_bw_mbps = std::max(shortterm_bw_mbps, other.shortterm_bw_mbps);
  }
};

}  // namespace ccgym
