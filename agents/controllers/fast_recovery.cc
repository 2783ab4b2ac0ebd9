#include "agents/controllers/fast_recovery.hh"

#include <algorithm>

namespace ccgym {

namespace {

int64_t divide_rounding_up(int64_t dividend, int64_t divisor) { return (dividend + divisor - 1) / divisor; }

}  // namespace

bool FastRecovery::begins_with(const Loss& loss) const {
  const auto is_new = [this](const LostPacket& packet) { return !is_older(packet.seq); };
  return std::ranges::any_of(loss.packets, is_new);
}

int64_t FastRecovery::begin(const Loss& loss, int64_t ssthresh_bytes) {
  active_ = true;
  recovery_point_ = next_seq_;
  ssthresh_bytes_ = ssthresh_bytes;
  flight_bytes_ = flight_before(loss);
  delivered_bytes_ = out_bytes_ = 0;
  return loss.inflight_bytes + packet_bytes_;  // the fast retransmission's packet may leave at once
}

void FastRecovery::abandon() {
  active_ = false;
  recovery_point_ = next_seq_;
}

int64_t FastRecovery::on_ack(const AckedPacket& packet) {
  if (!is_older(packet.seq)) {
    active_ = false;
    return ssthresh_bytes_;  // RFC 6937 section 3: at the end of recovery
  }
  delivered_bytes_ += packet.bytes;
  return packet.inflight_bytes + std::max<int64_t>(sendable_bytes(packet), 0);
}

// RFC 6937 section 3.1, with the slow-start reduction bound.
int64_t FastRecovery::sendable_bytes(const AckedPacket& packet) const {
  if (packet.inflight_bytes > ssthresh_bytes_) {
    return divide_rounding_up(delivered_bytes_ * ssthresh_bytes_, flight_bytes_) - out_bytes_;
  }
  const int64_t limit = std::max(delivered_bytes_ - out_bytes_, packet.bytes) + packet_bytes_;
  return std::min(ssthresh_bytes_ - packet.inflight_bytes, limit);
}

int64_t flight_before(const Loss& loss) {
  int64_t bytes = loss.inflight_bytes;
  for (const LostPacket& packet : loss.packets) bytes += packet.bytes;
  return bytes;
}

}  // namespace ccgym
