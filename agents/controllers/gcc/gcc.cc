#include "agents/controllers/gcc/gcc.hh"

#include <algorithm>
#include <chrono>

namespace ccgym {

namespace {

using std::chrono::milliseconds;

constexpr double kInitialRateMbps = 0.3;           // WebRTC's
constexpr Time kRateWindow = milliseconds{500};    // section 5.5: R_hat over 0.5 s
constexpr Time kReportPeriod = milliseconds{100};  // section 3: at most, where each packet is reported
constexpr int64_t kReportPackets = 20;             // WebRTC's: fewer tell no share
constexpr Time kWindow = std::chrono::seconds{2};  // there is no window: a bound for the sender's memory
constexpr int kWindowRtts = 2;                     // or so many round trips, which it must not bind
constexpr int64_t kMinWindowPackets = 10;

}  // namespace

Gcc::Gcc(int64_t packet_bytes)
    : packet_bytes_{packet_bytes}, delay_based_{kInitialRateMbps}, loss_based_{kInitialRateMbps} {}

void Gcc::on_ack(Time now, const AckEvent& ack) {
  report_.lost += static_cast<int64_t>(ack.lost.size());
  smoothed_rtt_ = ack.rtt.smoothed;
  for (const AckedPacket& packet : ack.acked)
    on_packet_acked(now, packet.sent_at, packet.arrived_at(now), ack.rtt);
}

void Gcc::on_packet_acked(Time now, Time sent_at, Time received_at, const RttStats& rtt) {
  ++report_.acked;
  arrivals_.push_back(received_at);
  if (!first_received_at_) first_received_at_ = received_at;
  const auto estimate = filter_.add(sent_at, received_at);
  if (estimate && received_at > *first_received_at_) {
    delay_based_.update(now, detector_.detect(*estimate),
                        {.incoming_mbps = incoming_mbps(received_at), .rtt = rtt.smoothed});
  }
  if (now - report_.began >= kReportPeriod && report_.acked + report_.lost >= kReportPackets)
    close_report(now);
}

void Gcc::on_timeout(Time /*now*/, const Timeout& timeout) {
  report_.lost += static_cast<int64_t>(timeout.lost.size());
}

// R_hat tells of the path, not of the application's pause: its window begins with what comes in next.
void Gcc::on_restart(Time /*now*/, Time /*idle*/) {
  arrivals_.clear();
  first_received_at_.reset();
}

// Section 5.5: R_hat. A flow younger than the window has had less time for what came in.
double Gcc::incoming_mbps(Time received_at) {
  while (arrivals_.front() + kRateWindow < received_at) arrivals_.pop_front();
  const auto bits = static_cast<double>(arrivals_.size()) * static_cast<double>(packet_bytes_) * 8;
  const Time window = std::min(kRateWindow, received_at - *first_received_at_);
  return bits * 1e-6 / std::chrono::duration<double>{window}.count();
}

// Section 6: the loss-based controller is told the share that was lost.
void Gcc::close_report(Time now) {
  loss_based_.update(static_cast<double>(report_.lost) / static_cast<double>(report_.lost + report_.acked));
  loss_based_.bound(delay_based_.rate_mbps());
  report_ = {.began = now};
}

SendLimits Gcc::limits() const {
  const double rate_mbps = std::min(delay_based_.rate_mbps(), loss_based_.rate_mbps());
  const Rate rate = Rate::from_mbps(rate_mbps);
  const double window_bytes = rate.bytes_in(std::max(kWindow, kWindowRtts * smoothed_rtt_));
  return {.cwnd_bytes = std::max(static_cast<int64_t>(window_bytes), kMinWindowPackets * packet_bytes_),
          .pacing_rate = rate};
}

}  // namespace ccgym
