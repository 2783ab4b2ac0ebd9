#include "agents/policy/shallow_queue.hh"

#include <algorithm>

namespace ccgym {

namespace {

constexpr double kPackets = 32;    // over so many the share of losses is averaged
constexpr double kBegins = 0.08;   // more than random losses, ...
constexpr double kOver = 0.005;    // ... and next to none
constexpr double kFewQueued = 2;   // with more of its own packets waiting, a smaller window is the answer
constexpr double kGain = 1.25;     // over the largest delivery rate, as BBR probes
constexpr int64_t kRateRtts = 10;  // horizon of that rate

double delivery_rate_mbps(const AckedPacket& packet) {
  const Time interval = std::max({packet.rate.interval, packet.rtt.min, Time{1}});
  return 8e3 * static_cast<double>(packet.rate.delivered_bytes) / static_cast<double>(interval.count());
}

// Of the packets in flight before the loss, those that were waiting, by Little's law.
double queued_packets(const Loss& loss, const RttStats& rtt, int64_t packet_bytes) {
  if (rtt.smoothed == Time::zero()) return 0;
  const double inflight_packets =
      static_cast<double>(loss.inflight_bytes) / static_cast<double>(packet_bytes) +
      static_cast<double>(loss.packets.size());
  return inflight_packets *
         (1 - static_cast<double>(rtt.min.count()) / static_cast<double>(rtt.smoothed.count()));
}

}  // namespace

bool ShallowQueue::on_ack(Time now, const AckedPacket& packet) {
  if (loss_share_ == 0) return false;
  loss_share_ -= loss_share_ / kPackets;
  if (loss_share_ < kOver) {
    *this = {};
    return true;
  }
  delivery_rate_mbps_.update(now, delivery_rate_mbps(packet), kRateRtts * packet.rtt.smoothed);
  return on_;
}

bool ShallowQueue::on_loss(const Loss& loss, const RttStats& rtt, int64_t packet_bytes) {
  if (queued_packets(loss, rtt, packet_bytes) > kFewQueued) return false;
  for (std::size_t lost = 0; lost < loss.packets.size(); ++lost) loss_share_ += (1 - loss_share_) / kPackets;
  if (on_ || loss_share_ <= kBegins) return false;
  on_ = true;
  return true;
}

std::optional<double> ShallowQueue::pacing_mbps() const {
  if (!on_ || delivery_rate_mbps_.empty()) return std::nullopt;
  return kGain * delivery_rate_mbps_.best();
}

}  // namespace ccgym
