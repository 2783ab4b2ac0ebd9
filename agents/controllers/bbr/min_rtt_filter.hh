// The min RTT, and when ProbeRTT is due (draft-ietf-ccwg-bbr-06, section 5.3.4.3). There are two filters: the
// min RTT of the last 10 s, and that of a probe interval of 5 s. ProbeRTT is due when the second expires; its
// new value then refreshes the first. In version 1 both times are 10 s, so that the two are the same.
#pragma once

#include <chrono>

#include "transport/units.hh"

namespace ccgym {

class MinRttFilter {
 public:
  explicit MinRttFilter(Time probe_interval) : probe_interval_{probe_interval} {}

  // Adds an RTT sample. Returns true if ProbeRTT is due.
  bool update(Time now, Time rtt) {
    const bool probe_is_due = now > recent_at_ + probe_interval_;
    if (rtt < recent_ || probe_is_due) {
      recent_ = rtt;
      recent_at_ = now;
    }
    if (recent_ < min_ || now > min_at_ + kWindow) {
      min_ = recent_;
      min_at_ = recent_at_;
    }
    return probe_is_due;
  }

  // ProbeRTT has ended: the next one is due a probe interval from now.
  void on_probed(Time now) { recent_at_ = now; }

  [[nodiscard]] bool known() const { return min_ != Time::max(); }
  [[nodiscard]] Time min() const { return min_; }

 private:
  static constexpr Time kWindow = std::chrono::seconds{10};  // section 2.16.1: MinRTTFilterLen

  Time probe_interval_;
  Time min_{Time::max()};
  Time min_at_{};
  Time recent_{Time::max()};  // BBR.probe_rtt_min_delay: the smallest RTT of the probe interval
  Time recent_at_{};          // BBR.probe_rtt_min_stamp
};

}  // namespace ccgym
