// When bandwidth is probed for next, and how fast the bound on what is in flight rises then
// (draft-ietf-ccwg-bbr-06, section 5.3.3).
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "transport/random.hh"
#include "transport/units.hh"

namespace ccgym {

// PickProbeWait: two to three seconds, or as many rounds as Reno would need for its own next loss.
class ProbeWait {
 public:
  void begin(Time now, Random& random) {
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

// ProbeInflightLongtermUpward: by one, two, four ... packets per round trip.
class UpwardSlope {
 public:
  void flatten() {
    rounds_ = 0;
    acked_bytes_ = 0;
  }
  void stop() { bytes_per_packet_ = std::numeric_limits<double>::infinity(); }
  // Once a round.
  void steepen(double cwnd_bytes, double packet_bytes) {
    const double packets_per_round = static_cast<double>(1U << rounds_);
    rounds_ = std::min(rounds_ + 1, kMaxRounds);
    bytes_per_packet_ = std::max(cwnd_bytes / packets_per_round, packet_bytes);
  }
  // How many more packets so much acknowledged is worth.
  double climb(double acked_bytes) {
    acked_bytes_ += acked_bytes;
    if (acked_bytes_ < bytes_per_packet_) return 0;
    const double delta = std::floor(acked_bytes_ / bytes_per_packet_);
    acked_bytes_ -= delta * bytes_per_packet_;
    return delta;
  }

 private:
  static constexpr int kMaxRounds = 30;  // section 5.3.3.9

  int rounds_{0};
  double acked_bytes_{0};
  double bytes_per_packet_{std::numeric_limits<double>::infinity()};
};

}  // namespace ccgym
