#include "agents/controllers/fast_recovery.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

bool FastRecovery::begins_with(const AckEvent& ack) const {
  if (ack.ce_packets > 0 && !is_older(ack.newest().seq)) return true;
  return episode_.begins_with(ack.lost);
}

int64_t FastRecovery::begin(const AckEvent& ack, int64_t ssthresh_bytes) {
  active_ = true;
  episode_.begin(ack.next_seq);
  count(ack);
  ssthresh_bytes_ = ssthresh_bytes;
  prior_inflight_bytes_ = inflight_before(ack) + ack.acked_bytes();
  delivered_bytes_ = 0;
  return ack.inflight_bytes + packet_bytes_;  // one packet may leave at once, as a fast retransmission does
}

bool FastRecovery::undone_by(uint64_t seq) {
  if (!episode_.undone_by(seq)) return false;
  active_ = false;
  return true;
}

void FastRecovery::abandon(const Timeout& timeout) {
  active_ = false;
  episode_.abandon(timeout.next_seq);
}

int64_t FastRecovery::on_ack(const AckEvent& ack) {
  if (!is_older(ack.newest().seq)) {
    active_ = false;
    return ssthresh_bytes_;  // RFC 6937 section 3: at the end of recovery
  }
  delivered_bytes_ += ack.acked_bytes();
  return ack.inflight_bytes + std::max<int64_t>(sendable_bytes(ack), 0);
}

// RFC 6937 section 3.1, with the slow-start reduction bound (PRR-SSRB). prr_delivered * ssthresh / RecoverFS
// is rounded up to whole packets, because only whole packets are sent: rounded to bytes, it would keep the
// flow one packet short from the first ACK on.
int64_t FastRecovery::sendable_bytes(const AckEvent& ack) const {
  const auto out_packets = static_cast<int64_t>(ack.next_seq - episode_.ends_at_seq());
  const int64_t out_bytes = out_packets * packet_bytes_;  // prr_out
  if (ack.inflight_bytes > ssthresh_bytes_) {
    // In floating point, which is exact up to 2^53: with 3.6 GB in flight the product exceeds 64 bits.
    const double reduced_bytes = static_cast<double>(delivered_bytes_) * static_cast<double>(ssthresh_bytes_);
    const double divisor = static_cast<double>(prior_inflight_bytes_) * static_cast<double>(packet_bytes_);
    return static_cast<int64_t>(std::ceil(reduced_bytes / divisor)) * packet_bytes_ - out_bytes;
  }
  const int64_t limit = std::max(delivered_bytes_ - out_bytes, ack.acked_bytes()) + packet_bytes_;
  return std::min(ssthresh_bytes_ - ack.inflight_bytes, limit);
}

int64_t inflight_before(const AckEvent& ack) { return ack.inflight_bytes + ack.lost_bytes(); }

int64_t inflight_before(const Timeout& timeout) {
  int64_t bytes = 0;
  for (const LostPacket& packet : timeout.lost) bytes += packet.bytes;
  return bytes;
}

}  // namespace ccgym
