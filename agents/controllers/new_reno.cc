#include "agents/controllers/new_reno.hh"

#include <algorithm>
#include <limits>
#include <utility>

namespace ccgym {

namespace {

constexpr int64_t kInitialWindowPackets = 10;  // RFC 6928
constexpr int64_t kLossWindowPackets = 1;      // RFC 5681 section 3.1: after a timeout
constexpr int64_t kMinSsthreshPackets = 2;     // RFC 5681 eq. 4

}  // namespace

NewReno::NewReno(int64_t packet_bytes)
    : packet_bytes_{packet_bytes},
      state_{.cwnd_bytes = kInitialWindowPackets * packet_bytes,
             .ssthresh_bytes = std::numeric_limits<int64_t>::max()},
      recovery_{packet_bytes} {}

void NewReno::on_ack(Time /*now*/, const AckedPacket& packet) {
  if (!recovery_.is_older(packet.seq)) before_timeout_.reset();
  if (recovery_.active()) state_.cwnd_bytes = recovery_.on_ack(packet);
  if (!recovery_.active()) grow(packet.bytes);
}

void NewReno::on_loss(Time /*now*/, const Loss& loss) {
  if (!loss.timeout && !recovery_.begins_with(loss)) return;
  if (loss.timeout && !before_timeout_) before_timeout_ = state_;
  state_.ssthresh_bytes = std::max(flight_before(loss) / 2, kMinSsthreshPackets * packet_bytes_);  // eq. 4
  state_.acked_in_window_bytes = 0;
  if (loss.timeout) {
    recovery_.abandon();
    state_.cwnd_bytes = kLossWindowPackets * packet_bytes_;
  } else {
    state_.cwnd_bytes = recovery_.begin(loss, state_.ssthresh_bytes);
  }
}

// RFC 5682 leaves the response open; Linux goes back to where it was.
void NewReno::on_spurious_timeout(Time /*now*/) {
  if (!before_timeout_) return;
  state_ = *std::exchange(before_timeout_, std::nullopt);
  recovery_.forget_timeout();
}

// RFC 5681 section 3.1 with RFC 3465's byte counting.
void NewReno::grow(int64_t acked_bytes) {
  if (state_.cwnd_bytes < state_.ssthresh_bytes) {
    state_.cwnd_bytes += acked_bytes;
    return;
  }
  state_.acked_in_window_bytes += acked_bytes;
  if (state_.acked_in_window_bytes < state_.cwnd_bytes) return;
  state_.acked_in_window_bytes -= state_.cwnd_bytes;
  state_.cwnd_bytes += packet_bytes_;
}

}  // namespace ccgym
