#include "agents/controllers/gcc/overuse_detector.hh"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ccgym {

namespace {

constexpr Time kOveruseTime = std::chrono::milliseconds{10};  // overuse_time_th
constexpr double kRise = 0.01;                                // K_u
constexpr double kFall = 0.00018;                             // K_d
constexpr double kMinThresholdMs = 6;
constexpr double kMaxThresholdMs = 600;
constexpr double kMaxExcessMs = 15;  // a spike further above the threshold does not adapt it
// WebRTC's value: a longer pause adapts the threshold no more than this.
constexpr double kMaxElapsedMs = 100;
constexpr int kMaxGroups = 60;  // number of groups over which m(i) is accumulated

}  // namespace

// The estimate is the change per group. As in WebRTC, the draft authors' implementation, the threshold
// applies to the change over the last min(i, 60) groups.
LinkUse OveruseDetector::detect(const ArrivalFilter::Estimate& estimate) {
  const double offset_ms = std::min(estimate.groups, kMaxGroups) * estimate.gradient_ms;
  const double elapsed_ms = last_arrival_ ? in_ms(estimate.arrived_at - *last_arrival_) : 0;
  last_arrival_ = estimate.arrived_at;
  LinkUse use = LinkUse::normal;
  if (offset_ms > threshold_ms_) {
    if (!over_since_) over_since_ = estimate.arrived_at;
    const bool long_enough = estimate.arrived_at - *over_since_ >= kOveruseTime;
    if (long_enough && estimate.gradient_ms >= last_gradient_ms_) use = LinkUse::over;
  } else {
    over_since_.reset();
    if (offset_ms < -threshold_ms_) use = LinkUse::under;
  }
  last_gradient_ms_ = estimate.gradient_ms;
  adapt(offset_ms, elapsed_ms);
  return use;
}

// del_var_th(i) = del_var_th(i-1) + (t(i) - t(i-1)) K(i) (|m(i)| - del_var_th(i-1))
void OveruseDetector::adapt(double offset_ms, double elapsed_ms) {
  const double excess_ms = std::abs(offset_ms) - threshold_ms_;
  if (excess_ms > kMaxExcessMs) return;
  const double gain = excess_ms < 0 ? kFall : kRise;
  threshold_ms_ += std::min(elapsed_ms, kMaxElapsedMs) * gain * excess_ms;
  threshold_ms_ = std::clamp(threshold_ms_, kMinThresholdMs, kMaxThresholdMs);
}

}  // namespace ccgym
