// Spaces packets in time at a rate; a driver that wakes up late may catch up. Fractions of a nanosecond are
// carried over: without them the rate would be a few hundred-thousandths too high at 1 Gbit/s.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "transport/units.hh"

namespace ccgym {

class Pacer {
 public:
  [[nodiscard]] Time next_release(Time now) const { return std::max(now, release_); }

  // The rest of the present gap is scaled to the new rate; without a rate it ends now. `rate` is passed by
  // reference: a copy would wait for the flag of the optional that the controller has just written, which
  // takes up to a tenth of the processor time of a packet.
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

  // To be called when the window opens: the time in which it was closed earns no credit for a burst.
  void on_window_opened(Time now) { release_ = std::max(release_, now); }

  void on_sent(Time now, int64_t bytes) {
    if (!rate_) return;
    release_ = std::max(release_, now - kMaxCredit);
    wait(rate_->ns_for(bytes));
  }

 private:
  // So much a driver that wakes up late may catch up in a burst.
  static constexpr Time kMaxCredit = std::chrono::milliseconds{1};
  static constexpr double kMaxGapNs = 1e9;  // at a rate near zero one packet per second still leaves

  void wait(double gap_ns) {
    const double exact_ns = std::min(gap_ns, kMaxGapNs) + fraction_ns_;
    const auto whole_ns = static_cast<int64_t>(exact_ns);
    release_ += Time{whole_ns};
    fraction_ns_ = exact_ns - static_cast<double>(whole_ns);
  }

  std::optional<Rate> rate_{};
  Time release_{};
  double fraction_ns_{0};  // below one nanosecond, to be added to release_
};

}  // namespace ccgym
