// A monitor interval: a stretch of packets sent at one rate, and what the network made of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "transport/congestion_controller.hh"

namespace ccgym {

// Least-squares line of the RTT over the time of departure, from running sums.
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

  // d(RTT)/dT in s/s; 0 for fewer than two departures.
  [[nodiscard]] double slope() const { return spread() <= 0 ? 0 : covariance() / spread(); }
  // Root mean square distance of the RTTs from the line.
  [[nodiscard]] double error_s() const {
    if (count_ < 2) return 0;
    const double about_mean = count_ * rtt_squared_ - rtt_ * rtt_;
    return std::sqrt(std::max(0.0, about_mean - slope() * covariance())) / count_;
  }
  [[nodiscard]] double mean_rtt_s() const { return count_ > 0 ? rtt_ / count_ : 0; }

 private:
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
  int trial{};  // what the learner calls it
  double rate_mbps{};
  Time began{};  // its first packet's departure
  uint64_t first_seq{};
  int64_t sent{0};  // packets, as the next three
  int64_t acked{0};
  int64_t lost{0};
  int64_t timed_out{0};  // presumed lost by a time-out, and not heard of since
  bool closed{false};
  bool held_back{false};  // less was sent than the rate allowed: `rate_mbps` is what was sent
  RttLine rtts{};
  double last_rtt_s{};

  [[nodiscard]] uint64_t end_seq() const { return first_seq + static_cast<uint64_t>(sent); }
  [[nodiscard]] double loss_rate() const {
    return sent == 0 ? 0 : static_cast<double>(sent - acked) / static_cast<double>(sent);
  }
};

}  // namespace ccgym
