#include "agents/controllers/gcc/gcc.hh"

#include <algorithm>
#include <chrono>

#include "agents/controllers/rate_limits.hh"

namespace ccgym {

namespace {

using std::chrono::milliseconds;

constexpr double kInitialRateMbps = 0.3;           // WebRTC's value
constexpr Time kRateWindow = milliseconds{500};    // section 5.5: R_hat over 0.5 s
constexpr Time kReportPeriod = milliseconds{100};  // section 3: the longest time between feedback messages
constexpr int64_t kReportPackets = 20;             // WebRTC's value: with fewer packets there is no loss rate

}  // namespace

Gcc::Gcc(int64_t packet_bytes)
    : packet_bytes_{packet_bytes},
      delay_based_{kInitialRateMbps},
      loss_based_{kInitialRateMbps},
      limits_{rate_limits(rate(), Time{}, packet_bytes)} {}

void Gcc::on_ack(Time now, const AckEvent& ack) {
  report_.lost_packets += static_cast<int64_t>(ack.lost.size());
  for (const AckedPacket& packet : ack.acked)
    on_packet_acked(now, packet.sent_at, packet.arrived_at(now), ack.rtt);
  limits_ = rate_limits(rate(), ack.rtt.smoothed, packet_bytes_);
}

void Gcc::on_packet_acked(Time now, Time sent_at, Time received_at, const RttStats& rtt) {
  ++report_.acked_packets;
  arrivals_.push_back(received_at);
  if (!first_received_at_) first_received_at_ = received_at;
  const auto estimate = filter_.add(sent_at, received_at);
  if (estimate && received_at > *first_received_at_) {
    delay_based_.update(now, detector_.detect(*estimate),
                        {.incoming_mbps = incoming_mbps(received_at), .rtt = rtt.smoothed});
  }
  if (now - report_.began >= kReportPeriod && report_.acked_packets + report_.lost_packets >= kReportPackets)
    close_report(now);
}

void Gcc::on_timeout(Time /*now*/, const Timeout& timeout) {
  report_.lost_packets += static_cast<int64_t>(timeout.lost.size());
}

// R_hat must not fall because the application paused: its window begins again with the next packet to arrive.
void Gcc::on_restart(Time /*now*/, Time /*idle*/) {
  arrivals_.clear();
  first_received_at_.reset();
}

// Section 5.5: R_hat, the incoming rate over the last half second, or since the first packet if that is
// shorter.
double Gcc::incoming_mbps(Time received_at) {
  while (arrivals_.front() + kRateWindow < received_at) arrivals_.pop_front();
  const auto bits = static_cast<double>(arrivals_.size()) * static_cast<double>(packet_bytes_) * 8;
  const Time window = std::min(kRateWindow, received_at - *first_received_at_);
  return bits * 1e-6 / in_seconds(window);
}

// Section 6: updates the loss-based controller with the loss rate since the last report.
void Gcc::close_report(Time now) {
  loss_based_.update(static_cast<double>(report_.lost_packets) /
                     static_cast<double>(report_.lost_packets + report_.acked_packets));
  loss_based_.bound(delay_based_.rate_mbps());
  report_ = {.began = now};
}

Rate Gcc::rate() const {
  return Rate::from_mbps(std::min(delay_based_.rate_mbps(), loss_based_.rate_mbps()));
}

}  // namespace ccgym
