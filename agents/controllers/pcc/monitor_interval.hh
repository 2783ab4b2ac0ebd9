// A monitor interval: consecutive packets that were sent at one rate, and the statistics of their ACKs and
// losses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "transport/units.hh"

namespace ccgym {

// Linear regression (least squares) of the RTT over the time of departure, from running sums.
class RttLine {
 public:
  void add(double sent_s, double rtt_s) {
    count_ += 1;
    sent_ += sent_s;
    rtt_ += rtt_s;
    sent_squared_ += sent_s * sent_s;
    rtt_squared_ += rtt_s * rtt_s;
    product_ += sent_s * rtt_s;
  }

  // d(RTT)/dT in s/s; 0 for fewer than two different departure times.
  [[nodiscard]] double slope() const { return spread() <= 0 ? 0 : covariance() / spread(); }
  // Root mean square residual of the RTTs.
  [[nodiscard]] double error_s() const {
    if (count_ < 2) return 0;
    const double rtt_spread = count_ * rtt_squared_ - rtt_ * rtt_;
    return std::sqrt(std::max(0.0, rtt_spread - slope() * covariance())) / count_;
  }
  [[nodiscard]] double mean_rtt_s() const { return count_ > 0 ? rtt_ / count_ : 0; }

 private:
  // count^2 times the variance of the departure times, and their covariance with the RTTs.
  [[nodiscard]] double spread() const { return count_ * sent_squared_ - sent_ * sent_; }
  [[nodiscard]] double covariance() const { return count_ * product_ - sent_ * rtt_; }

  double count_{0};
  double sent_{0};
  double rtt_{0};
  double sent_squared_{0};
  double rtt_squared_{0};
  double product_{0};
};

struct MonitorInterval {
  int trial{};         // RateLearner::Trial::id
  double rate_mbps{};  // of UDP payload
  Time began{};        // departure of its first packet
  uint64_t first_seq{};
  int64_t sent{0};  // in packets, as the next three
  int64_t acked{0};
  int64_t lost{0};
  int64_t timed_out{0};   // presumed lost by a time-out, and neither acknowledged nor declared lost since
  bool closed{false};     // all of its packets have been sent
  bool held_back{false};  // window or application have limited it: `rate_mbps` is the rate that was achieved
  RttLine rtts{};
  double last_rtt_s{};  // of the packet acknowledged last; 0 if there was none

  [[nodiscard]] uint64_t end_seq() const { return first_seq + static_cast<uint64_t>(sent); }
  [[nodiscard]] double loss_rate() const {
    return sent == 0 ? 0 : static_cast<double>(sent - acked) / static_cast<double>(sent);
  }
};

}  // namespace ccgym
