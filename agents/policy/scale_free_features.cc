#include "agents/policy/scale_free_features.hh"

namespace ccgym {

namespace {

constexpr double kMaxRateRtts = 10;  // horizon of the maximum delivery rate, as BBR's filter
constexpr double kStartRtts = 20;    // after so many round trips a flow no longer counts as young
constexpr double kDelayUnitMs = 10;  // absolute delays are seen relative to one step
constexpr double kMaxAbsValue = 4;

double log_ratio(double a, double b) { return std::log(std::max(a, 1e-9) / std::max(b, 1e-9)); }

}  // namespace

// Updates the measurements by the ACKs of the step; a step without ACKs leaves them as they were.
void ScaleFreeFeatures::close_step() {
  if (step_.acks == 0) return;
  take_latest();
  const auto acks = static_cast<double>(step_.acks);
  queueing_ms_ = step_.rtt_sum_ms / acks - min_rtt_ms_;
  least_queueing_ms_ = in_ms(step_.min_rtt) - min_rtt_ms_;
  forward_queueing_ms_ = step_.forward_sum_ms / acks;
  if (step_arrival_) {
    const double between_ms = in_ms(*last_arrival_) - in_ms(*step_arrival_);
    received_rate_ = static_cast<double>(step_.delivered_bytes) / std::max(between_ms, 1.0);
  }
  step_arrival_ = last_arrival_;
}

void ScaleFreeFeatures::take_latest() {
  const Ack& ack = step_.latest;
  min_rtt_ms_ = std::max(in_ms(ack.rtt.min), kMinMs);
  smoothed_rtt_ms_ = smoothed_ms(ack.rtt);
  inflight_bytes_ = static_cast<double>(ack.inflight_bytes);
  const double round_trip_ms = std::max(in_ms(ack.ack_interval), kMinMs);
  round_trip_rate_ = static_cast<double>(ack.delivered_bytes) / std::max(round_trip_ms, min_rtt_ms_);
  sending_rate_ = static_cast<double>(ack.bytes_sent_since) / std::max(in_ms(ack.rtt.latest), kMinMs);
}

// Averages over the same horizon share a weight, because the exponential takes most of the time.
void ScaleFreeFeatures::update_averages(double step_ms, double log_window) {
  const double rtt_ms = std::max(smoothed_rtt_ms_, kMinMs);
  const auto kept_over = [=](double rtts) { return std::exp(-step_ms / (rtts * rtt_ms)); };
  const double weight_2 = 1 - kept_over(2);
  const double weight_4 = 1 - kept_over(4);
  const double weight_8 = 1 - kept_over(8);
  const double weight_16 = 1 - kept_over(16);
  const auto blend = [](double& average, double weight, double sample) {
    average += weight * (sample - average);
  };
  const auto lost_bytes = static_cast<double>(step_.lost_bytes);
  const double sent_and_gone = static_cast<double>(step_.delivered_bytes) + lost_bytes;
  const double loss = sent_and_gone > 0 ? lost_bytes / sent_and_gone : 0;
  const bool first = rate_4_ == 0;
  if (first) {
    rate_4_ = rate_16_ = received_2_ = round_trip_rate_;
    window_2_ = window_8_ = log_window;
  }
  blend(rate_4_, weight_4, round_trip_rate_);
  blend(rate_16_, weight_16, round_trip_rate_);
  blend(queueing_2_, weight_2, queueing_ms_);
  blend(queueing_8_, weight_8, queueing_ms_);
  blend(received_2_, weight_2, received_rate_);
  blend(window_2_, weight_2, log_window);
  blend(window_8_, weight_8, log_window);
  blend(loss_2_, weight_2, loss);
  blend(loss_16_, weight_16, loss);
  standing_ms_ = std::min(queueing_ms_, standing_ms_ + weight_8 * (queueing_ms_ - standing_ms_));
  max_rate_ = std::max(round_trip_rate_, rate_4_ + kept_over(kMaxRateRtts) * (max_rate_ - rate_4_));
}

double ScaleFreeFeatures::as_window(double bytes_per_ms, double cwnd_packets) const {
  return log_ratio(bytes_per_ms * min_rtt_ms_ / packet_bytes_, cwnd_packets);
}

std::array<double, ScaleFreeFeatures::kSize> ScaleFreeFeatures::entries(Time now, const OwnState& own,
                                                                        double step_ms) const {
  const double cwnd_packets = own.cwnd_packets;
  const double log_window = std::log(cwnd_packets);
  return {
      std::log(std::max(cwnd_packets, 1.0)),
      std::log1p(min_rtt_ms_),
      std::log1p(queueing_ms_ / std::max(min_rtt_ms_, kMinMs)),
      std::log1p(queueing_ms_ / kDelayUnitMs),
      std::log1p(least_queueing_ms_ / kDelayUnitMs),
      as_window(static_cast<double>(step_.delivered_bytes) / step_ms, cwnd_packets),
      as_window(round_trip_rate_, cwnd_packets),
      as_window(rate_4_, cwnd_packets),
      as_window(rate_16_, cwnd_packets),
      as_window(max_rate_, cwnd_packets),
      log_ratio(sending_rate_, round_trip_rate_),
      log_ratio(inflight_bytes_ / packet_bytes_ + 1, cwnd_packets),
      std::sqrt(loss_2_),
      std::sqrt(loss_16_),
      std::log1p(rtt_deviation_ms_ / kDelayUnitMs),
      log_ratio(queueing_ms_ + 1, queueing_2_ + 1),
      log_ratio(queueing_2_ + 1, queueing_8_ + 1),
      log_ratio(step_ms, kDelayUnitMs),
      std::min(1.0, in_ms(now) / (kStartRtts * std::max(min_rtt_ms_, kMinMs))),
      previous_action_,
      std::log1p(forward_queueing_ms_ / kDelayUnitMs),
      std::log1p(latest_forward_queueing_ms_ / kDelayUnitMs),
      std::log1p(standing_ms_ / kDelayUnitMs),
      as_window(received_rate_, cwnd_packets),
      as_window(received_2_, cwnd_packets),
      log_window - window_2_,
      log_window - window_8_,
      own.probes ? 1.0 : 0.0,
      own.sees_others ? 1.0 : 0.0,
      preference_,
  };
}

void ScaleFreeFeatures::observe(Time now, const OwnState& own, std::span<float> observation) {
  const double step_ms = std::max(in_ms(now - step_start_), kMinMs);
  close_step();
  update_averages(step_ms, std::log(own.cwnd_packets));
  const std::array<double, kSize> values = entries(now, own, step_ms);
  for (std::size_t i = 0; i < kSize; ++i)
    observation[i] = static_cast<float>(std::clamp(values[i] / kDivisors[i], -kMaxAbsValue, kMaxAbsValue));
  step_ = {};
  step_start_ = now;
}

}  // namespace ccgym
