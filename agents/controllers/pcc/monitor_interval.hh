// A monitor interval: a stretch of packets sent at one rate, and what the network made of them.
#pragma once

#include <cstdint>

#include "transport/congestion_controller.hh"

namespace ccgym {

// Least-squares slope of the RTT over the time of departure, from running sums.
class RttSlope {
 public:
  void add(double sent_s, double rtt_s) {
    count_ += 1;
    sent_ += sent_s;
    rtt_ += rtt_s;
    sent_squared_ += sent_s * sent_s;
    product_ += sent_s * rtt_s;
  }

  // d(RTT)/dT in s/s; 0 for fewer than two departures.
  [[nodiscard]] double slope() const {
    const double spread = count_ * sent_squared_ - sent_ * sent_;
    return count_ < 2 || spread <= 0 ? 0 : (count_ * product_ - sent_ * rtt_) / spread;
  }
  [[nodiscard]] double mean_rtt_s() const { return count_ > 0 ? rtt_ / count_ : 0; }

 private:
  double count_{0};
  double sent_{0};
  double rtt_{0};
  double sent_squared_{0};
  double product_{0};
};

struct MonitorInterval {
  int trial{};  // what the learner calls it
  double rate_mbps{};
  Time began{};
  uint64_t first_seq{};
  int64_t sent{0};
  int64_t acked{0};
  int64_t lost{0};
  bool closed{false};
  RttSlope rtts{};

  [[nodiscard]] bool settled() const { return closed && acked + lost >= sent; }
  [[nodiscard]] double loss_rate() const {
    return sent == 0 ? 0 : static_cast<double>(sent - acked) / static_cast<double>(sent);
  }
};

}  // namespace ccgym
