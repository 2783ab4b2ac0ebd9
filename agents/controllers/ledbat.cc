#include "agents/controllers/ledbat.hh"

#include <algorithm>

namespace ccgym {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr Time kTarget = milliseconds{100};    // section 2.5: TARGET
constexpr double kGain = 1;                    // GAIN
constexpr double kAllowedIncreasePackets = 1;  // ALLOWED_INCREASE
constexpr double kMinWindowPackets = 2;        // MIN_CWND
constexpr double kTimeoutWindowPackets = 1;    // section 2.4.1: after a congestion time-out

}  // namespace

Ledbat::Ledbat(int64_t packet_bytes)
    : packet_bytes_{packet_bytes},
      cwnd_packets_{static_cast<double>(kInitialWindowPackets)},
      recovery_{packet_bytes} {
  base_delays_.fill(Time::max());
  current_delays_.fill(Time::max());
}

void Ledbat::on_sent(Time /*now*/, const SentPacket& packet) { sent_inflight_bytes_ = packet.inflight_bytes; }

// The callees are inline, because the calls would take as much processor time as the rest of an ACK.
void Ledbat::on_ack(Time now, const AckEvent& ack) {
  if (!ack.lost.empty()) respond_to_losses(ack);
  for (const AckedPacket& packet : ack.acked) on_packet_acked(now, packet);
  if (!recovery_.active() || ack.acked.empty()) return;
  cwnd_packets_ = static_cast<double>(recovery_.on_ack(ack)) / static_cast<double>(packet_bytes_);
}

inline void Ledbat::on_packet_acked(Time now, const AckedPacket& packet) {
  const Time delay = packet.arrived_at(now) - packet.sent_at;
  update_base_delay(now, delay);
  update_current_delay(delay);
  if (!recovery_.active()) grow();
}

// Section 2.4.1, once per round trip: cwnd = min(cwnd, max(cwnd / 2, MIN_CWND)). The half is that of the
// bytes in flight (RFC 5681, eq. 4), which may be more than twice cwnd, after a long delay has reduced cwnd
// faster than ACKs reduce the bytes in flight.
void Ledbat::respond_to_losses(const AckEvent& ack) {
  if (!recovery_.begins_with(ack)) return;
  slow_start_ = false;
  const auto least_bytes = static_cast<int64_t>(kMinWindowPackets) * packet_bytes_;
  const int64_t half_bytes = std::max(inflight_before(ack) / 2, least_bytes);
  const int64_t cwnd_bytes = recovery_.begin(ack, std::min(half_bytes, limits().cwnd_bytes));
  cwnd_packets_ = static_cast<double>(cwnd_bytes) / static_cast<double>(packet_bytes_);
}

void Ledbat::on_timeout(Time /*now*/, const Timeout& timeout) {
  slow_start_ = false;
  recovery_.abandon(timeout);
  cwnd_packets_ = kTimeoutWindowPackets;
}

SendLimits Ledbat::limits() const {
  const double cwnd_bytes = cwnd_packets_ * static_cast<double>(packet_bytes_);
  return {.cwnd_bytes = static_cast<int64_t>(cwnd_bytes + 0.5)};
}

// Section 2.4.2: the base delay is the smallest of the last ten minutes, because the path may change.
inline void Ledbat::update_base_delay(Time now, Time delay) {
  const auto minute = static_cast<std::size_t>(now / minutes{1});
  Time& smallest = base_delays_[minute % kBaseHistory];
  if (minute != minute_) {
    minute_ = minute;
    smallest = Time::max();
    base_delay_ = *std::ranges::min_element(base_delays_);
  }
  smallest = std::min(smallest, delay);
  base_delay_ = std::min(base_delay_, delay);
}

inline void Ledbat::update_current_delay(Time delay) { current_delays_[samples_++ % kCurrentFilter] = delay; }

inline Time Ledbat::queueing_delay() const {
  return *std::ranges::min_element(current_delays_) - base_delay_;
}

// Section 2.4.2: in proportion to off_target, by at most one packet per RTT. Slow start until the queueing
// delay first reaches the target.
inline void Ledbat::grow() {
  const double off_target =
      static_cast<double>((kTarget - queueing_delay()).count()) / static_cast<double>(kTarget.count());
  if (slow_start_ && off_target <= 0) {
    slow_start_ = false;
    cwnd_packets_ /= 2;  // the delay is that of the window one RTT ago, which was half as large
  }
  cwnd_packets_ += slow_start_ ? 1 : kGain * off_target / cwnd_packets_;
  const double inflight_packets =
      static_cast<double>(sent_inflight_bytes_) / static_cast<double>(packet_bytes_);
  const double allowed = inflight_packets + kAllowedIncreasePackets;
  cwnd_packets_ = std::max(std::min(cwnd_packets_, allowed), kMinWindowPackets);
}

}  // namespace ccgym
