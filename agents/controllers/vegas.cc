#include "agents/controllers/vegas.hh"

#include <algorithm>
#include <limits>
#include <utility>

namespace ccgym {

namespace {

constexpr double kAlphaPackets = 2;  // section III-B: Vegas-2,4
constexpr double kBetaPackets = 4;
constexpr double kGammaPackets = 1;        // section III-C
constexpr int kMinSamples = 3;             // Linux: with fewer RTT samples the window grows as Reno's
constexpr int kSlowStartSamples = 8;       // as in HyStart: one delayed ACK does not show a queue
constexpr int64_t kLossWindowPackets = 1;  // RFC 5681 section 3.1: after a timeout
constexpr int64_t kMinWindowPackets = 2;

}  // namespace

Vegas::Vegas(int64_t packet_bytes)
    : packet_bytes_{packet_bytes},
      cwnd_bytes_{kInitialWindowPackets * packet_bytes},
      ssthresh_bytes_{std::numeric_limits<int64_t>::max()},
      recovery_{packet_bytes} {}

void Vegas::on_ack(Time /*now*/, const AckEvent& ack) {
  if (!ack.lost.empty()) respond_to_losses(ack);
  if (ack.acked.empty()) return;
  timed_out_ = false;
  if (recovery_.active()) {
    cwnd_bytes_ = recovery_.on_ack(ack);
    if (!recovery_.active()) round_ = {.end_seq = ack.next_seq};
    return;
  }
  const int64_t before_bytes = cwnd_bytes_;
  if (ack.newest().seq >= round_.end_seq) end_round(ack);
  round_.min_rtt = std::min(round_.min_rtt, ack.rtt.latest);
  ++round_.samples;
  if (cwnd_bytes_ < ssthresh_bytes_ && slow_start_grows_) slow_start(ack);
  if (ack.limited_by == Limit::application)
    cwnd_bytes_ = std::min(cwnd_bytes_, before_bytes);  // RFC 9002, 7.8
}

void Vegas::respond_to_losses(const AckEvent& ack) {
  if (!recovery_.begins_with(ack)) return;
  ssthresh_bytes_ = std::max(inflight_before(ack) / 2, kMinWindowPackets * packet_bytes_);
  cwnd_bytes_ = recovery_.begin(ack, ssthresh_bytes_);
}

void Vegas::on_timeout(Time /*now*/, const Timeout& timeout) {
  if (!std::exchange(timed_out_, true))  // RFC 5681 section 3.1: consecutive time-outs reduce ssthresh once
    ssthresh_bytes_ = std::max(inflight_before(timeout) / 2, kMinWindowPackets * packet_bytes_);
  recovery_.abandon(timeout);
  round_ = {.end_seq = timeout.next_seq};
  slow_start_grows_ = true;
  cwnd_bytes_ = kLossWindowPackets * packet_bytes_;
}

void Vegas::end_round(const AckEvent& ack) {
  if (cwnd_bytes_ < ssthresh_bytes_) {
    slow_start_grows_ = !slow_start_grows_;
  } else if (round_.samples > 0) {
    adjust(round_.samples < kMinSamples ? 0 : queued_packets(ack.rtt.min, round_.min_rtt));
  }
  round_ = {.end_seq = ack.next_seq};
}

// Section III-B: Diff = (Expected - Actual) BaseRTT = cwnd (1 - BaseRTT / RTT), the packets in the queue.
double Vegas::queued_packets(Time base_rtt, Time rtt) const {
  if (rtt <= Time::zero()) return 0;
  const double base_share = static_cast<double>(base_rtt.count()) / static_cast<double>(rtt.count());
  return static_cast<double>(cwnd_bytes_) / static_cast<double>(packet_bytes_) * (1 - base_share);
}

// Section III-C: the window grows in every other round. The ACKs of such a round are those of packets that
// left at a constant window, so that the RTTs of the first few show whether that window already fills the
// pipe.
void Vegas::slow_start(const AckEvent& ack) {
  const bool enough_samples = round_.samples >= kSlowStartSamples;
  const double excess_packets = queued_packets(ack.rtt.min, round_.min_rtt) - kGammaPackets;
  if (enough_samples && excess_packets > 0) {
    cwnd_bytes_ -= static_cast<int64_t>(excess_packets * static_cast<double>(packet_bytes_));
    ssthresh_bytes_ = cwnd_bytes_;
  } else {
    cwnd_bytes_ += ack.acked_bytes();
  }
}

void Vegas::adjust(double in_queue_packets) {
  if (in_queue_packets < kAlphaPackets) cwnd_bytes_ += packet_bytes_;
  if (in_queue_packets > kBetaPackets) cwnd_bytes_ -= packet_bytes_;
  cwnd_bytes_ = std::max(cwnd_bytes_, kMinWindowPackets * packet_bytes_);
  ssthresh_bytes_ = std::min(ssthresh_bytes_, cwnd_bytes_);
}

}  // namespace ccgym
