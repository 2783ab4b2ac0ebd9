// Spaces packets in time at a rate, and lets a driver that wakes up late catch up. Fractions of a nanosecond
// are carried over: cut off, they would make a gigabit per second a few hundred-thousandths too fast.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "transport/units.hh"

namespace ccgym {

class Pacer {
 public:
  [[nodiscard]] Time next_release(Time now) const { return std::max(now, release_); }

  // The rest of the present gap passes at the new rate. `rate` is passed by reference: a copy would wait for
  // the flag that the controller has just written, up to a tenth of a packet's cost.
  void set_rate(Time now, const std::optional<Rate>& rate) {
    if (rate == rate_) return;
    if (!rate) {
      release_ = Time{};
    } else if (release_ > now && rate_) {
      const double left_ns = static_cast<double>((release_ - now).count()) + fraction_ns_;
      release_ = now;
      fraction_ns_ = 0;
      wait(left_ns * (rate_->mbps() / rate->mbps()));
    }
    rate_ = rate;
  }

  // Time in which the window was closed earns no burst, unlike the late wake-up of a driver.
  void on_window_opened(Time now) { release_ = std::max(release_, now); }

  void on_sent(Time now, int64_t bytes) {
    if (!rate_) return;
    release_ = std::max(release_, now - kMaxCredit);
    wait(rate_->ns_for(bytes));
  }

 private:
  static constexpr Time kMaxCredit = std::chrono::milliseconds{1};  // what a late wake-up may send in a burst
  static constexpr double kMaxGapNs = 1e9;  // a rate near zero still sends a packet a second

  void wait(double gap_ns) {
    const double exact_ns = std::min(gap_ns, kMaxGapNs) + fraction_ns_;
    const auto whole_ns = static_cast<int64_t>(exact_ns);
    release_ += Time{whole_ns};
    fraction_ns_ = exact_ns - static_cast<double>(whole_ns);
  }

  std::optional<Rate> rate_{};
  Time release_{};
  double fraction_ns_{0};  // of a nanosecond, to be added to release_
};

}  // namespace ccgym
