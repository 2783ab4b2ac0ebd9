// Spaces packets in time at a rate, forgiving a driver that wakes up late. Fractions of a nanosecond add up:
// cut off, they would make a gigabit a few hundred-thousandths too fast.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "transport/units.hh"

namespace ccgym {

class Pacer {
 public:
  [[nodiscard]] Time next_release(Time now) const { return std::max(now, release_); }

  // What is left of a gap passes at the new rate. By reference: a copy would wait for the flag that a
  // controller has just written, up to a tenth of a packet's price.
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

  // A closed window is no late driver: waiting for it earns no burst.
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
  double fraction_ns_{0};  // of a nanosecond, that the release is later
};

}  // namespace ccgym
