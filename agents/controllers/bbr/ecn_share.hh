// The share of a flow's packets that are CE-marked, per round, after Google's BBR v3: draft-ietf-ccwg-bbr
// does not specify the response to marks, and only requires that they count as congestion. Google's ignores
// marks on paths with an RTT above 5 ms; here a flow that uses ECN responds to them on any path.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ccgym {

class EcnShare {
 public:
  static constexpr double kTooHigh = 0.5;  // share of a round's packets from which on a probe is too high

  // Counts an ACK; `ends_round`: whether the ACK ends a round.
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

  // The exponentially weighted moving average of the share per round; initially 1.
  [[nodiscard]] double alpha() const { return alpha_; }
  // How many consecutive rounds, up to the last one, had a share of kTooHigh or more.
  [[nodiscard]] int rounds_too_high() const { return rounds_too_high_; }

 private:
  static constexpr double kGain = 1.0 / 16;

  double alpha_{1};
  int64_t acked_packets_{0};
  int64_t marked_packets_{0};
  int rounds_too_high_{0};
};

}  // namespace ccgym
