#include "agents/controllers/verus/verus.hh"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "agents/controllers/checked.hh"

namespace ccgym {

namespace {

using std::chrono::milliseconds;

constexpr Time kEpoch = milliseconds{5};                   // section 5.1
constexpr Time kInterpolationPeriod = milliseconds{1000};  // section 5.1
constexpr double kDelta1Ms = 1;                            // section 5.2
constexpr double kDelta2Ms = 2;                            // section 5.2
constexpr double kMaxWeight = 0.8;                         // alpha of eq. 2
constexpr double kSlowStartExit = 15;  // section 4.3: slow start ends at so many times D_min
constexpr double kDecrease = 0.7;      // M of eq. 6: the authors' program
constexpr double kMinWindowPackets = 1;
constexpr double kMaxWindowPackets = 1 << 14;
constexpr Time kMinRttWindow = std::chrono::seconds{10};  // as Copa's and BBR's

}  // namespace

Verus::Verus(int64_t packet_bytes, const Config& config)
    : packet_bytes_{packet_bytes},
      delay_ratio_{checked("verus: delay_ratio", config.delay_ratio, 1, 1e3)},
      window_packets_{static_cast<double>(kInitialWindowPackets)},
      cwnd_bytes_{kInitialWindowPackets * packet_bytes},
      sent_under_packets_(static_cast<std::size_t>(kMaxWindowPackets)) {}

double Verus::next_delay_ms(double estimate_ms, double max_ms, double max_change_ms, double min_ms) const {
  if (max_ms / min_ms > delay_ratio_) return std::max(min_ms, estimate_ms - kDelta2Ms);
  if (max_change_ms > 0) return std::max(min_ms, estimate_ms - kDelta1Ms);
  return estimate_ms + kDelta2Ms;
}

double Verus::packets_to_send(double window_packets, double next_window_packets, double epochs_per_rtt) {
  const double epochs = std::max(2.0, epochs_per_rtt);
  return std::max(0.0, next_window_packets + (2 - epochs) / (epochs - 1) * window_packets);
}

void Verus::on_sent(Time /*now*/, const SentPacket& packet) {
  window_packets_of(packet.seq) = window_packets_;
  budget_packets_ -= 1;
  update_cwnd(packet.inflight_bytes);
}

void Verus::on_ack(Time now, const AckEvent& ack) {
  if (!ack.lost.empty()) respond_to_losses(ack.lost.front());
  if (!ack.acked.empty()) take_delivery(now, ack);
  update_cwnd(ack.inflight_bytes);
}

void Verus::take_delivery(Time now, const AckEvent& ack) {
  if (!epoch_ends_) epoch_ends_ = now + kEpoch;
  // A window that the application does not use must not grow (RFC 9002, section 7.8).
  window_is_used_ = ack.limited_by != Limit::application;
  observe_min(now, in_ms(ack.rtt.latest));
  for (const AckedPacket& packet : ack.acked) on_packet_acked(now, packet);
}

// D_min is the smallest RTT of the whole flow. The smallest of the last seconds would rise with the queue,
// which Verus never empties, and the queue would rise with it. Only if the window has been at its minimum for
// 10 s, so that the flow builds no queue, D_min becomes the smallest RTT of that time: the path's propagation
// delay has grown.
void Verus::observe_min(Time now, double rtt_ms) {
  min_ms_ = std::min(min_ms_, rtt_ms);
  if (window_packets_ > kMinWindowPackets || phase_ != Phase::normal) {
    least_window_since_ = now;
    least_window_min_ms_ = rtt_ms;
  }
  least_window_min_ms_ = std::min(least_window_min_ms_, rtt_ms);
  if (now - least_window_since_ > kMinRttWindow) min_ms_ = least_window_min_ms_;
}

void Verus::on_packet_acked(Time now, const AckedPacket& packet) {
  const double delay_ms = in_ms(now - packet.sent_at);
  epoch_max_ms_ = std::max(epoch_max_ms_, delay_ms);
  const double sent_under_packets = window_packets_of(packet.seq);
  // Section 4.3: the profile is not updated in loss recovery.
  if (phase_ != Phase::recovery) profile_.add(sent_under_packets, delay_ms);
  grow(sent_under_packets);
  if (phase_ == Phase::slow_start && delay_ms > kSlowStartExit * min_ms_)
    leave_slow_start(sent_under_packets);
}

void Verus::grow(double sent_under_packets) {
  if (phase_ == Phase::slow_start && window_is_used_)
    window_packets_ = std::min(window_packets_ + 1, kMaxWindowPackets);
  if (phase_ != Phase::recovery) return;
  window_packets_ += 1 / window_packets_;
  if (sent_under_packets > window_packets_) return;
  phase_ = Phase::normal;  // the packets that left before the loss have been acknowledged
  set_estimate_from_window();
}

// The first profile is that of slow start. As in the authors' program, the window is reduced as if the packet
// with the large delay had been lost.
void Verus::leave_slow_start(double sent_under_packets) {
  phase_ = Phase::normal;
  profile_.interpolate();
  decrease(sent_under_packets);
  set_estimate_from_window();
}

// Eq. 6: M times the window under which the lost packet was sent.
void Verus::decrease(double sent_under_packets) {
  window_packets_ = std::max(kMinWindowPackets, kDecrease * sent_under_packets);
}

void Verus::set_estimate_from_window() {
  if (!profile_.empty()) estimate_ms_ = std::max(min_ms_, profile_.delay_ms(window_packets_));
}

void Verus::on_timeout(Time /*now*/, const Timeout& /*timeout*/) {
  phase_ = Phase::slow_start;
  profile_.clear();
  window_packets_ = kMinWindowPackets;
  update_cwnd(0);
}

void Verus::respond_to_losses(const LostPacket& first) {
  if (phase_ == Phase::recovery) return;
  if (phase_ == Phase::slow_start) profile_.interpolate();
  phase_ = Phase::recovery;
  decrease(window_packets_of(first.seq));
}

void Verus::on_timer(Time now, const Timer& timer) {
  if (now >= interpolate_at_) {
    profile_.interpolate();
    interpolate_at_ = now + kInterpolationPeriod;
  }
  end_epoch(timer.rtt.smoothed);
  epoch_ends_ = now + kEpoch;
  update_cwnd(timer.inflight_bytes);
}

// Section 4. Without an ACK in the epoch the window stays the same, but packets may leave as in any other
// epoch: otherwise, if ACKs are aggregated, the flow would never get beyond a few packets per aggregate.
void Verus::end_epoch(Time smoothed_rtt) {
  const double before_packets = window_packets_;
  if (epoch_max_ms_ > 0) update_window();
  if (phase_ == Phase::normal && !profile_.empty()) set_budget(before_packets, smoothed_rtt);
}

void Verus::update_window() {
  const double before_ms = max_ms_ > 0 ? max_ms_ : epoch_max_ms_;
  max_ms_ = kMaxWeight * epoch_max_ms_ + (1 - kMaxWeight) * before_ms;  // eq. 2
  epoch_max_ms_ = 0;
  if (phase_ != Phase::normal || profile_.empty()) return;
  const double next_ms = next_delay_ms(estimate_ms_, max_ms_, max_ms_ - before_ms, min_ms_);
  estimate_ms_ = window_is_used_ ? next_ms : std::min(next_ms, estimate_ms_);
  const double most = window_is_used_ ? kMaxWindowPackets : window_packets_;
  window_packets_ = std::clamp(profile_.window_packets(estimate_ms_), kMinWindowPackets, most);
}

// Eq. 5: how many packets may leave in the next epoch.
void Verus::set_budget(double before_packets, Time smoothed_rtt) {
  const double send =
      packets_to_send(before_packets, window_packets_, std::ceil(in_ms(smoothed_rtt) / in_ms(kEpoch)));
  budget_packets_ = send + std::clamp(budget_packets_, 0.0, 1.0);  // carries over a fraction, but no burst
}

// cwnd is the sending window, in normal operation limited to what may still leave in this epoch.
void Verus::update_cwnd(int64_t inflight_bytes) {
  const double inflight_packets = static_cast<double>(inflight_bytes) / static_cast<double>(packet_bytes_);
  double packets = window_packets_;
  if (phase_ == Phase::normal) packets = std::min(packets, inflight_packets + std::max(0.0, budget_packets_));
  cwnd_bytes_ = static_cast<int64_t>(std::max(packets, kMinWindowPackets)) * packet_bytes_;
}

}  // namespace ccgym
