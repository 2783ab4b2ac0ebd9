// How far ACKs run ahead of the bandwidth when a link or a receiver holds them back: what must be in flight
// beyond the BDP so that it does not run dry (draft-ietf-ccwg-bbr, section 5.5.9: BBR.extra_acked).
#pragma once

#include <algorithm>

#include "agents/controllers/bbr/recent_max.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class AckAggregation {
 public:
  // `limit_bytes`: one aggregate cannot exceed a window.
  void on_ack(Time now, int64_t acked_bytes, Rate bw, int64_t limit_bytes) {
    double expected_bytes = bw.bytes_in(now - began_);
    if (static_cast<double>(acked_bytes_) <= expected_bytes) {
      began_ = now;
      acked_bytes_ = 0;
      expected_bytes = 0;
    }
    acked_bytes_ += acked_bytes;
    const double extra_bytes = static_cast<double>(acked_bytes_) - expected_bytes;
    extra_bytes_.update(std::min(extra_bytes, static_cast<double>(limit_bytes)));
  }

  // After an idle time: begins a new interval.
  void restart(Time now) {
    began_ = now;
    acked_bytes_ = 0;
  }

  void on_round(int rounds_per_epoch = kRoundsPerEpoch) {
    if (++rounds_ < rounds_per_epoch) return;
    rounds_ = 0;
    extra_bytes_.advance();
  }

  [[nodiscard]] double extra_bytes() const { return extra_bytes_.best(); }

 private:
  static constexpr int kRoundsPerEpoch = 5;  // Linux: half of a window of 10

  Time began_{};
  int64_t acked_bytes_{0};
  int rounds_{0};
  RecentMax<2> extra_bytes_{};  // of this epoch and the one before
};

}  // namespace ccgym
