// The types of the transport for times and rates.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace ccgym {

using Time = std::chrono::nanoseconds;  // since the flow began

[[nodiscard]] constexpr double in_seconds(Time time) { return std::chrono::duration<double>{time}.count(); }

[[nodiscard]] constexpr double in_ms(Time time) {
  return std::chrono::duration<double, std::milli>{time}.count();
}

// A rate in Mbit/s; bytes are those of the UDP payload.
class Rate {
 public:
  constexpr Rate() = default;
  static constexpr Rate from_mbps(double mbps) { return Rate{mbps}; }
  static constexpr Rate of(double bytes, Time time) {
    return Rate{bytes * kMbpsPerBytePerNs / static_cast<double>(time.count())};
  }

  [[nodiscard]] constexpr double mbps() const { return mbps_; }
  [[nodiscard]] constexpr double bytes_in(Time time) const {
    return mbps_ * static_cast<double>(time.count()) / kMbpsPerBytePerNs;
  }
  [[nodiscard]] constexpr double ns_for(int64_t bytes) const {
    return static_cast<double>(bytes) * kMbpsPerBytePerNs / mbps_;
  }

  constexpr auto operator<=>(const Rate&) const = default;  // NOLINT(modernize-use-nullptr): not one here
  friend constexpr Rate operator*(double factor, Rate rate) { return Rate{factor * rate.mbps_}; }

 private:
  static constexpr double kMbpsPerBytePerNs = 8e3;

  explicit constexpr Rate(double mbps) : mbps_{mbps} {}

  double mbps_{0};
};

}  // namespace ccgym
