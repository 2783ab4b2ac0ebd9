#include "agents/controllers/hystart.hh"

#include <algorithm>

namespace ccgym {

namespace {

using std::chrono::milliseconds;

constexpr double kLowWindowPackets = 16;        // hystart_low_window: no test below this cwnd
constexpr Time kTrainGap = milliseconds{2};     // hystart_ack_delta_us: ACKs further apart form no train
constexpr Time kTrainMargin = milliseconds{1};  // bursts of the sender may lengthen a train by this
constexpr int kDelaySamples = 8;                // HYSTART_MIN_SAMPLES: RTT samples of a round before the test
constexpr Time kMinDelayRise = milliseconds{4};   // HYSTART_DELAY_MIN
constexpr Time kMaxDelayRise = milliseconds{16};  // HYSTART_DELAY_MAX

}  // namespace

bool HyStart::on_ack(Time now, const AckEvent& ack, double cwnd_packets) {
  if (ack.newest().seq >= round_ends_at_seq_) begin_round(now, ack.next_seq);
  if (exit_found_ || cwnd_packets < kLowWindowPackets) return false;
  const bool train = train_is_long(now, ack.rtt.min);
  exit_found_ = delay_has_risen(ack.rtt) || train;
  return exit_found_;
}

void HyStart::begin_round(Time now, uint64_t next_seq) {
  round_ends_at_seq_ = next_seq;
  round_began_ = last_ack_ = now;
  round_min_rtt_ = Time::max();
  samples_ = 0;
}

// A window that is sent in one burst returns as a train of ACKs, which lasts as long as the bottleneck needs
// to send that window. Slow start ends when a train lasts half of the min RTT: the window in flight is twice
// the one that is being acknowledged, and so fills the pipe.
bool HyStart::train_is_long(Time now, Time min_rtt) {
  if (now - last_ack_ > kTrainGap) return false;
  last_ack_ = now;
  return now - round_began_ > (min_rtt + kTrainMargin) / 2;
}

// Whether the smallest RTT of this round exceeds the min RTT by an eighth of it, within the bounds above.
bool HyStart::delay_has_risen(const RttStats& rtt) {
  round_min_rtt_ = std::min(round_min_rtt_, rtt.latest);
  if (++samples_ <= kDelaySamples) return false;
  return round_min_rtt_ > rtt.min + std::clamp(rtt.min / 8, kMinDelayRise, kMaxDelayRise);
}

}  // namespace ccgym
