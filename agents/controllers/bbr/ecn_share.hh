// The share of a flow's data that is marked, round by round, after Google's BBR v3: draft-ietf-ccwg-bbr
// leaves the response to marks open and only requires that each counts as congestion. Google's leaves out
// paths of more than 5 ms; here, a flow that uses ECN responds to marks on any path.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ccgym {

class EcnShare {
 public:
  static constexpr double kTooHigh = 0.5;  // of a round's packets: too many for a passing queue

  // Counts an ACK; `ends_round`: whether it is the last one of its round.
  void on_ack(int64_t acked_packets, int64_t marked_packets, bool ends_round) {
    acked_packets_ += acked_packets;
    marked_packets_ += marked_packets;
    if (!ends_round || acked_packets_ == 0) return;
    const double share =
        std::min(1.0, static_cast<double>(marked_packets_) / static_cast<double>(acked_packets_));
    alpha_ += kGain * (share - alpha_);
    rounds_too_high_ = share >= kTooHigh ? rounds_too_high_ + 1 : 0;
    acked_packets_ = marked_packets_ = 0;
  }

  // The share over the rounds so far, weighted towards later ones; it begins at 1.
  [[nodiscard]] double alpha() const { return alpha_; }
  [[nodiscard]] int rounds_too_high() const { return rounds_too_high_; }  // in a row, up to now

 private:
  static constexpr double kGain = 1.0 / 16;

  double alpha_{1};
  int64_t acked_packets_{0};
  int64_t marked_packets_{0};
  int rounds_too_high_{0};
};

}  // namespace ccgym
