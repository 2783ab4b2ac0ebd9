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

double delivery_rate_mbps(const AckEvent& ack) {
  const Time interval = std::max({ack.rate.interval, ack.rtt.min, Time{1}});
  return Rate::of(static_cast<double>(ack.rate.delivered_bytes), interval).mbps();
}

// Of the packets in flight before the loss, those that were waiting, by Little's law.
double queued_packets(std::span<const LostPacket> lost, int64_t inflight_bytes, const RttStats& rtt) {
  if (rtt.smoothed == Time::zero()) return 0;
  const double inflight_packets =
      static_cast<double>(inflight_bytes) / static_cast<double>(lost.front().bytes) +
      static_cast<double>(lost.size());
  return inflight_packets *
         (1 - static_cast<double>(rtt.min.count()) / static_cast<double>(rtt.smoothed.count()));
}

}  // namespace

bool ShallowQueue::on_ack(Time now, const AckEvent& ack) {
  if (loss_share_ == 0) return false;
  loss_share_ -= loss_share_ / kPackets;
  if (loss_share_ < kOver) {
    *this = {};
    return true;
  }
  delivery_rate_mbps_.update(now, delivery_rate_mbps(ack), kRateRtts * ack.rtt.smoothed);
  return on_;
}

bool ShallowQueue::on_loss(std::span<const LostPacket> lost, int64_t inflight_bytes, const RttStats& rtt) {
  if (queued_packets(lost, inflight_bytes, rtt) > kFewQueued) return false;
  for (std::size_t packet = 0; packet < lost.size(); ++packet) loss_share_ += (1 - loss_share_) / kPackets;
  if (on_ || loss_share_ <= kBegins) return false;
  on_ = true;
  return true;
}

std::optional<Rate> ShallowQueue::pacing() const {
  if (!on_ || delivery_rate_mbps_.empty()) return std::nullopt;
  return Rate::from_mbps(kGain * delivery_rate_mbps_.best());
}

}  // namespace ccgym
