#include "agents/companion/shallow_queue.hh"

#include <algorithm>

namespace ccgym {

namespace {

constexpr double kPackets = 32;  // the share of losses is averaged over so many

// Before so many packets have arrived the share of losses means nothing: a flow whose first burst met a full
// queue was paced by the one packet that came through, and 15 kB beside a Cubic took 1.40 times as long as
// another Cubic's (95th percentile, median of 30 links). With 8 or 32 packets they take 0.81 times as long,
// with 4 0.92. With 32 rather than 8, flows in queues of one packet lose most of what they send for seconds:
// on 2,000 random links mean ln(throughput / p95 delay) is lower by 0.011 (95 % interval -0.004 to 0.026).
constexpr int64_t kMinPackets = 8;
constexpr double kBegins = 0.08;  // begins above this share of losses: more than random ones, ...
constexpr double kOver = 0.005;   // ... and is over below this one

// If more of the flow's own packets are queued, a smaller window is the answer. With 2, several flows of our
// kind that together filled a queue took it for a shallow one: on 18 links that hold less than 4 packets of
// each of 2 to 16 flows their Jain's index was 0.77 in the mean, with 1 it is 0.83.
constexpr double kFewQueued = 1;

constexpr double kDeepQueue = 4;  // no shallow queue holds so many own packets: the losses were random

// The pace is kGain times the largest delivery rate, since the link may be faster now, and half a packet per
// round trip more. By the factor alone, flows that share the queue keep whatever shares they have; the same
// packet for each is worth more to a flow that has less. With BBR's 1.25 alone, 2 to 16 flows had a Jain's
// index of 0.933 in the mean of 256 links; with this pace 0.951. But at a few packets per round trip one more
// is much, and the largest of many rates is well above their mean: with a whole packet and the largest rate
// of ten round trips, flows on links with room for less than 12 packets of each lost 28 % of what they sent
// instead of 22 % (120 links, Jain's index 0.936 instead of 0.947), and beside full queues new flows got
// nothing through for minutes. Alone on 604 links with up to 8 packets the policy was on the frontier on 91.2
// % instead of 92.4 %.
constexpr double kGain = 1.1;
constexpr double kMorePackets = 0.5;

constexpr int64_t kPathRtts = 5;  // horizon of the largest delivery rate and of empty_rtt_

// Times what the path holds at that pace. On 585 links with queues of up to 6 packets, many with ACKs that
// come in bunches, the policy was on the frontier on 77 % with the network's window, on 92 % with this one.
constexpr double kWindowGain = 3;
constexpr int kSmoothing = 8;  // ACKs

double delivery_rate_mbps(const AckEvent& ack) {
  const Time interval = std::max({ack.rate.interval, ack.rtt.min, Time{1}});
  return Rate::of(static_cast<double>(ack.rate.delivered_bytes), interval).mbps();
}

// How many of the packets in flight are queued, by Little's law.
double queued_packets(double inflight_packets, Time queueing, Time rtt) {
  if (rtt == Time::zero()) return 0;
  return inflight_packets * static_cast<double>(queueing.count()) / static_cast<double>(rtt.count());
}

double in_packets(int64_t bytes, int64_t packet_bytes) {
  return static_cast<double>(bytes) / static_cast<double>(packet_bytes);
}

}  // namespace

bool ShallowQueue::on_ack(Time now, const AckEvent& ack) {
  note_delays(ack);
  arrived_packets_ += static_cast<int64_t>(ack.acked.size());
  if (loss_share_ == 0) return false;
  loss_share_ -= loss_share_ / kPackets;
  const double inflight_packets = in_packets(ack.inflight_bytes, ack.newest().bytes);
  const bool is_deep =
      on_ && queued_packets(inflight_packets, smoothed_queueing_, ack.rtt.smoothed) > kDeepQueue;
  if (loss_share_ < kOver || is_deep) {
    on_ = false;
    loss_share_ = 0;
    delivery_rate_mbps_ = {};
    empty_rtt_ = {};
    return true;
  }
  note_path(now, ack);
  return on_;
}

void ShallowQueue::note_delays(const AckEvent& ack) {
  const AckedPacket& newest = ack.newest();
  queueing_ = ack.rtt.latest - ack.rtt.min;
  if (newest.received_at) {
    const Time forward = *newest.received_at - newest.sent_at;
    least_forward_ = std::min(least_forward_, forward);
    queueing_ = forward - least_forward_;
  }
  smoothed_queueing_ += (queueing_ - smoothed_queueing_) / kSmoothing;
}

void ShallowQueue::note_path(Time now, const AckEvent& ack) {
  packet_bytes_ = ack.newest().bytes;
  const Time horizon = kPathRtts * ack.rtt.smoothed;
  delivery_rate_mbps_.update(now, delivery_rate_mbps(ack), horizon);
  empty_rtt_.update(now, std::max({ack.rtt.latest - queueing_, ack.rtt.min, Time{1}}), horizon);
}

bool ShallowQueue::on_loss(std::span<const LostPacket> lost, int64_t inflight_bytes, const RttStats& rtt) {
  const double inflight_packets =
      in_packets(inflight_bytes, lost.front().bytes) + static_cast<double>(lost.size());
  if (queued_packets(inflight_packets, smoothed_queueing_, rtt.smoothed) > kFewQueued) return false;
  for (std::size_t packet = 0; packet < lost.size(); ++packet) loss_share_ += (1 - loss_share_) / kPackets;
  if (on_ || loss_share_ <= kBegins || arrived_packets_ < kMinPackets) return false;
  on_ = true;
  return true;
}

std::optional<Rate> ShallowQueue::pacing() const {
  if (!on_ || delivery_rate_mbps_.empty()) return std::nullopt;
  const Rate more = Rate::of(kMorePackets * static_cast<double>(packet_bytes_), empty_rtt_.best());
  return Rate::from_mbps(kGain * delivery_rate_mbps_.best() + more.mbps());
}

int64_t ShallowQueue::window_bytes(int64_t asked_bytes) const {
  const std::optional<Rate> pace = pacing();
  if (!pace) return asked_bytes;
  const double path_bytes = pace->bytes_in(empty_rtt_.best());
  return std::max(asked_bytes, static_cast<int64_t>(kWindowGain * path_bytes));
}

}  // namespace ccgym
