// How much of a flow's data comes marked, from round to round: after Google's BBR v3, for draft-ietf-ccwg-bbr
// leaves the answer to marks open and asks only that each is taken for congestion. There, paths of more than
// 5 ms are left out; a flow that asks for marks answers them on any path.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ccgym {

class EcnShare {
 public:
  static constexpr double kTooHigh = 0.5;  // of a round's packets: this is no passing queue

  // What an ACK tells, the last one of its round or not.
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

  // The share of the rounds up to now, the later ones counting more; it begins with all.
  [[nodiscard]] double alpha() const { return alpha_; }
  [[nodiscard]] int rounds_too_high() const { return rounds_too_high_; }  // one after the other, up to now

 private:
  static constexpr double kGain = 1.0 / 16;

  double alpha_{1};
  int64_t acked_packets_{0};
  int64_t marked_packets_{0};
  int rounds_too_high_{0};
};

}  // namespace ccgym
