#include "agents/controllers/gcc/arrival_filter.hh"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ccgym {

namespace {

constexpr Time kBurst = std::chrono::milliseconds{5};  // section 5.2: burst_time
constexpr double kStateNoise = 1e-3;                   // section 5.3: q
constexpr double kChi = 0.01;                          // section 5.3: in [0.001, 0.1]
constexpr double kOutlier = 3;                         // section 5.3: z is limited to 3 sqrt(var_v)

}  // namespace

std::optional<ArrivalFilter::Estimate> ArrivalFilter::add(Time sent_at, Time received_at) {
  if (current_ && sent_at < current_->first_sent_at) return std::nullopt;  // reordered: of an older group
  if (current_ && belongs(sent_at, received_at)) {
    current_->last_sent_at = std::max(current_->last_sent_at, sent_at);
    current_->last_received_at = std::max(current_->last_received_at, received_at);
    return std::nullopt;
  }
  std::optional<Estimate> estimate;
  if (current_) estimate = close(*current_);
  current_ = {sent_at, sent_at, received_at};
  return estimate;
}

// Section 5.2: a packet belongs to the group if it was sent within the burst time, or if it arrived right
// after the others, in a burst that drains a queue.
bool ArrivalFilter::belongs(Time sent_at, Time received_at) const {
  if (sent_at - current_->first_sent_at <= kBurst) return true;
  const Time arrival_gap = received_at - current_->last_received_at;
  const Time send_gap = sent_at - current_->last_sent_at;
  return arrival_gap < kBurst && arrival_gap < send_gap;
}

std::optional<ArrivalFilter::Estimate> ArrivalFilter::close(const Group& group) {
  std::optional<Estimate> estimate;
  if (previous_) {
    const double send_gap_ms = in_ms(group.last_sent_at - previous_->last_sent_at);
    const double arrival_gap_ms = in_ms(group.last_received_at - previous_->last_received_at);
    const double gradient_ms = update(arrival_gap_ms - send_gap_ms, send_gap_ms);
    estimate = {group.last_received_at, gradient_ms, ++groups_};
  }
  previous_ = group;
  return estimate;
}

double ArrivalFilter::update(double variation_ms, double send_gap_ms) {
  group_rates_hz_[updates_++ % kRecentGroups] = 1000 / std::max(send_gap_ms, 1.0);
  const double highest_rate_hz = *std::ranges::max_element(group_rates_hz_);  // f_max
  const double innovation = variation_ms - gradient_ms_;                      // z(i)
  const double limit = kOutlier * std::sqrt(noise_variance_);
  const double bounded = std::clamp(innovation, -limit, limit);
  const double alpha = std::pow(1 - kChi, 30 / highest_rate_hz);
  noise_variance_ = std::max(alpha * noise_variance_ + (1 - alpha) * bounded * bounded, 1.0);
  const double gain = (error_variance_ + kStateNoise) / (noise_variance_ + error_variance_ + kStateNoise);
  gradient_ms_ += innovation * gain;
  error_variance_ = (1 - gain) * (error_variance_ + kStateNoise);
  return gradient_ms_;
}

}  // namespace ccgym
