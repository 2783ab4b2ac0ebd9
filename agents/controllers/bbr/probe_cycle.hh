// When to probe for bandwidth next, and how fast the long-term bound on the inflight rises during a probe
// (draft-ietf-ccwg-bbr-06, section 5.3.3).
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "transport/random.hh"
#include "transport/units.hh"

namespace ccgym {

// PickProbeWait: two to three seconds, or the number of rounds between two losses of a Reno flow with the
// same window, whichever is less.
class ProbeWait {
 public:
  void start(Time now, Random& random) {
    rounds_ = static_cast<int>(random.bits() % 2);
    wait_ = std::chrono::seconds{2} + std::chrono::milliseconds{random.bits() % 1000};
    began_ = now;
  }
  void on_round() { ++rounds_; }

  [[nodiscard]] bool is_over(Time now, double target_packets) const {
    return now > began_ + wait_ || rounds_ >= std::min(target_packets, kMaxRenoRounds);
  }

 private:
  static constexpr double kMaxRenoRounds = 63;  // section 5.3.3.8.3

  Time began_{};
  Time wait_{};
  int rounds_{0};
};

// ProbeInflightLongtermUpward: the bound rises by 1, 2, 4, ... packets per round trip.
class UpwardSlope {
 public:
  // Begins again at 1 packet per round trip.
  void reset() {
    rounds_ = 0;
    acked_bytes_ = 0;
  }
  // The bound does not rise until the next `steepen`.
  void stop() { bytes_per_packet_ = std::numeric_limits<double>::infinity(); }
  // Once per round: doubles the slope.
  void steepen(double cwnd_bytes, double packet_bytes) {
    const double packets_per_round = static_cast<double>(1U << rounds_);
    rounds_ = std::min(rounds_ + 1, kMaxRounds);
    bytes_per_packet_ = std::max(cwnd_bytes / packets_per_round, packet_bytes);
  }
  // By how many packets the bound rises for `acked_bytes` more acknowledged.
  double rise_packets(double acked_bytes) {
    acked_bytes_ += acked_bytes;
    if (acked_bytes_ < bytes_per_packet_) return 0;
    const double packets = std::floor(acked_bytes_ / bytes_per_packet_);
    acked_bytes_ -= packets * bytes_per_packet_;
    return packets;
  }

 private:
  static constexpr int kMaxRounds = 30;  // section 5.3.3.9

  int rounds_{0};
  double acked_bytes_{0};  // not yet used for a rise
  // Acknowledged bytes for which the bound rises by a packet.
  double bytes_per_packet_{std::numeric_limits<double>::infinity()};
};

}  // namespace ccgym
