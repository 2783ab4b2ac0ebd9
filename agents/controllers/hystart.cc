#include "agents/controllers/hystart.hh"

#include <algorithm>

namespace ccgym {

namespace {

using std::chrono::milliseconds;

constexpr double kLowWindowPackets = 16;
constexpr Time kTrainGap = milliseconds{2};     // ACKs further apart belong to no train
constexpr Time kTrainMargin = milliseconds{1};  // bursts of the sender may lengthen it by this
constexpr int kDelaySamples = 8;
constexpr Time kMinDelayRise = milliseconds{4};
constexpr Time kMaxDelayRise = milliseconds{16};

}  // namespace

bool HyStart::on_ack(Time now, const AckEvent& ack, double cwnd_packets) {
  if (ack.newest().seq >= round_ends_at_seq_) begin_round(now, ack.next_seq);
  if (found_ || cwnd_packets < kLowWindowPackets) return false;
  const bool train = train_is_long(now, ack.rtt.min);
  found_ = delay_has_risen(ack.rtt) || train;
  return found_;
}

void HyStart::begin_round(Time now, uint64_t next_seq) {
  round_ends_at_seq_ = next_seq;
  round_began_ = last_ack_ = now;
  round_min_rtt_ = Time::max();
  samples_ = 0;
}

// The ACKs of a window sent at once form a train as long as the bottleneck takes to send it. Slow start ends
// at a train of half an RTT, which leaves room for the doubling under way.
bool HyStart::train_is_long(Time now, Time min_rtt) {
  if (now - last_ack_ > kTrainGap) return false;
  last_ack_ = now;
  return now - round_began_ > (min_rtt + kTrainMargin) / 2;
}

bool HyStart::delay_has_risen(const RttStats& rtt) {
  round_min_rtt_ = std::min(round_min_rtt_, rtt.latest);
  if (++samples_ <= kDelaySamples) return false;
  return round_min_rtt_ > rtt.min + std::clamp(rtt.min / 8, kMinDelayRise, kMaxDelayRise);
}

}  // namespace ccgym
