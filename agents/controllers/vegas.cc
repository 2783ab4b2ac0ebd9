#include "agents/controllers/vegas.hh"

#include <algorithm>
#include <limits>

namespace ccgym {

namespace {

constexpr double kAlphaPackets = 2;  // section III-B: Vegas-2,4
constexpr double kBetaPackets = 4;
constexpr double kGammaPackets = 1;            // section III-C
constexpr int kMinSamples = 3;                 // fewer say nothing about the queue: grow (Linux)
constexpr int64_t kInitialWindowPackets = 10;  // RFC 6928
constexpr int64_t kLossWindowPackets = 1;      // RFC 5681 section 3.1: after a timeout
constexpr int64_t kMinWindowPackets = 2;

}  // namespace

Vegas::Vegas(int64_t packet_bytes)
    : packet_bytes_{packet_bytes},
      cwnd_bytes_{kInitialWindowPackets * packet_bytes},
      ssthresh_bytes_{std::numeric_limits<int64_t>::max()},
      recovery_{packet_bytes} {}

void Vegas::on_sent(Time /*now*/, const SentPacket& packet) {
  next_seq_ = packet.seq + 1;
  recovery_.on_sent(packet);
}

void Vegas::on_ack(Time /*now*/, const AckedPacket& packet) {
  if (recovery_.active()) {
    cwnd_bytes_ = recovery_.on_ack(packet);
    if (!recovery_.active()) round_ = {.end_seq = next_seq_};
    return;
  }
  round_.min_rtt = std::min(round_.min_rtt, packet.rtt.latest);
  ++round_.samples;
  if (packet.seq >= round_.end_seq) {
    end_round(packet.rtt.min);
  } else if (cwnd_bytes_ < ssthresh_bytes_ && doubling_) {
    cwnd_bytes_ += packet.bytes;
  }
}

void Vegas::on_loss(Time /*now*/, const Loss& loss) {
  if (!loss.timeout && !recovery_.begins_with(loss)) return;
  ssthresh_bytes_ = std::max(flight_before(loss) / 2, kMinWindowPackets * packet_bytes_);
  if (loss.timeout) {
    recovery_.abandon();
    round_ = {.end_seq = next_seq_};
    doubling_ = true;
    cwnd_bytes_ = kLossWindowPackets * packet_bytes_;
  } else {
    cwnd_bytes_ = recovery_.begin(loss, ssthresh_bytes_);
  }
}

// Section III-B: what is in flight beyond Expected = cwnd / BaseRTT waits in the queue.
void Vegas::end_round(Time base_rtt) {
  const double cwnd_packets = static_cast<double>(cwnd_bytes_) / static_cast<double>(packet_bytes_);
  const double base_share = round_.min_rtt > Time::zero() ? static_cast<double>(base_rtt.count()) /
                                                                static_cast<double>(round_.min_rtt.count())
                                                          : 1;
  const double queued_packets = cwnd_packets * (1 - base_share);
  if (cwnd_bytes_ < ssthresh_bytes_) {
    doubling_ = !doubling_;
    if (queued_packets > kGammaPackets) {  // section III-C: slow start has filled the pipe
      cwnd_bytes_ -= static_cast<int64_t>((queued_packets - 1) * static_cast<double>(packet_bytes_));
      ssthresh_bytes_ = cwnd_bytes_;
    }
  } else {
    adjust(round_.samples < kMinSamples ? 0 : queued_packets);
  }
  round_ = {.end_seq = next_seq_};
}

void Vegas::adjust(double queued_packets) {
  if (queued_packets < kAlphaPackets) cwnd_bytes_ += packet_bytes_;
  if (queued_packets > kBetaPackets) cwnd_bytes_ -= packet_bytes_;
  cwnd_bytes_ = std::max(cwnd_bytes_, kMinWindowPackets * packet_bytes_);
  ssthresh_bytes_ = std::min(ssthresh_bytes_, cwnd_bytes_);
}

}  // namespace ccgym
