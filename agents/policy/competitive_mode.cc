#include "agents/policy/competitive_mode.hh"

#include <algorithm>
#include <chrono>

namespace ccgym {

namespace {

constexpr double kStayed = 0.5;  // a drain has failed if more than this share of the queue is left
constexpr double kGone = 0.125;  // nobody fills the queue if no more than this share is left
constexpr Time kFilled = std::chrono::milliseconds{20};  // a shorter queue is noise, or nobody's who fills it
constexpr int kFailedDrains = 2;                         // in a row before there is a contest
constexpr double kGivenWay = 0.95;                       // of the window at the drain before
constexpr double kFewPackets = 4;                        // a window that cannot give way any further
constexpr double kDecrease = 0.7;                        // on a loss, as Cubic's
constexpr double kGrown = 1.5;                           // times the window on entry, ...
constexpr double kGrownPackets = 3;                      // ... and so many packets, ...
constexpr double kGained = 1.2;     // ... and not this many times the rate: there is nobody to take it from
constexpr int kDrainsOfPeace = -8;  // counted from, after such an error
constexpr double kLeastPackets = 2;

double in_ms(Time time) { return std::chrono::duration<double, std::milli>(time).count(); }

}  // namespace

void CompetitiveMode::on_probe_result(const ProbeResult& drained) {
  const bool gave_way = drained.cwnd_packets <= std::max(kGivenWay * previous_cwnd_packets_, kFewPackets);
  previous_cwnd_packets_ = drained.cwnd_packets;
  const bool failed = drained.left > kStayed && drained.queueing > kFilled;
  failed_drains_ = failed ? failed_drains_ + 1 : 0;
  if (on_) {
    on_ = drained.left > kGone;
  } else if (failed_drains_ >= kFailedDrains && gave_way) {
    enter(drained);
  }
}

void CompetitiveMode::on_loss(Time now, std::span<const LostPacket> lost) {
  const bool is_new = std::ranges::any_of(
      lost, [this](const LostPacket& packet) { return packet.sent_at >= backed_off_at_; });
  if (!on_ || !is_new) return;
  cwnd_packets_ = std::max(kLeastPackets, kDecrease * cwnd_packets_);
  backed_off_at_ = now;
}

double CompetitiveMode::window(Time now, Time smoothed_rtt, double wanted_packets) {
  const double round_trips = in_ms(now - decided_at_) / in_ms(smoothed_rtt);
  decided_at_ = now;
  if (!on_) return wanted_packets;
  cwnd_packets_ = std::max(cwnd_packets_ + round_trips, wanted_packets);
  if (is_alone(smoothed_rtt)) {
    on_ = false;
    failed_drains_ = kDrainsOfPeace;
    return wanted_packets;
  }
  return cwnd_packets_;
}

void CompetitiveMode::enter(const ProbeResult& drained) {
  on_ = true;
  cwnd_packets_ = entry_cwnd_packets_ = drained.cwnd_packets;
  entry_packets_per_ms_ = drained.cwnd_packets / in_ms(drained.smoothed_rtt);
}

// A path that has become longer looks like a queue that never empties; but there a larger window gains
// nothing.
bool CompetitiveMode::is_alone(Time smoothed_rtt) const {
  return cwnd_packets_ > kGrown * entry_cwnd_packets_ + kGrownPackets &&
         cwnd_packets_ / in_ms(smoothed_rtt) < kGained * entry_packets_per_ms_;
}

}  // namespace ccgym
