// ACK aggregation: how many more bytes were acknowledged than the bandwidth explains, because a link or a
// receiver sends ACKs in bursts. So many bytes have to be in flight beyond the BDP for full throughput
// between two bursts (draft-ietf-ccwg-bbr, section 5.5.9: BBR.extra_acked).
#pragma once

#include <algorithm>

#include "agents/controllers/bbr/recent_max.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class AckAggregation {
 public:
  // `bw` is the bandwidth estimate; `limit_bytes`, the cwnd, bounds the size of an aggregate.
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

  // To be called after an idle period: begins a new interval.
  void restart(Time now) {
    began_ = now;
    acked_bytes_ = 0;
  }

  // To be called once per round trip.
  void on_round(int rounds_per_epoch = kRoundsPerEpoch) {
    if (++rounds_ < rounds_per_epoch) return;
    rounds_ = 0;
    extra_bytes_.advance();
  }

  [[nodiscard]] double extra_bytes() const { return extra_bytes_.best(); }

 private:
  static constexpr int kRoundsPerEpoch = 5;  // Linux: half of a window of 10

  Time began_{};            // of the interval in which ACKs run ahead of the bandwidth
  int64_t acked_bytes_{0};  // in that interval
  int rounds_{0};
  RecentMax<2> extra_bytes_{};  // the largest of this epoch and the one before
};

}  // namespace ccgym
