#include "agents/controllers/new_reno.hh"

#include <algorithm>
#include <limits>

namespace ccgym {

namespace {

constexpr int64_t kInitialWindowPackets = 10;  // RFC 6928
constexpr int64_t kLossWindowPackets = 1;      // RFC 5681 section 3.1: after a timeout
constexpr int64_t kMinSsthreshPackets = 2;     // RFC 5681 eq. 4

int64_t lost_bytes(const Loss& loss) {
  int64_t bytes = 0;
  for (const LostPacket& packet : loss.packets) bytes += packet.bytes;
  return bytes;
}

int64_t divide_rounding_up(int64_t dividend, int64_t divisor) { return (dividend + divisor - 1) / divisor; }

}  // namespace

NewReno::NewReno(int64_t packet_bytes)
    : packet_bytes_{packet_bytes},
      state_{.cwnd_bytes = kInitialWindowPackets * packet_bytes,
             .ssthresh_bytes = std::numeric_limits<int64_t>::max()} {}

void NewReno::on_sent(Time /*now*/, const SentPacket& packet) {
  state_.next_seq = packet.seq + 1;
  state_.prr_out_bytes += packet.bytes;
}

void NewReno::on_ack(Time /*now*/, const AckedPacket& packet) {
  if (state_.in_recovery && packet.seq >= state_.recovery_point) {
    state_.in_recovery = false;
    state_.cwnd_bytes = state_.ssthresh_bytes;  // RFC 6937 section 3: at the end of recovery
  }
  if (state_.in_recovery) {
    reduce_proportionally(packet);
  } else {
    grow(packet.bytes);
  }
}

void NewReno::on_loss(Time /*now*/, const Loss& loss) {
  if (loss.timeout) return restart(loss);
  const auto is_new = [this](const LostPacket& packet) { return packet.seq >= state_.recovery_point; };
  if (std::ranges::any_of(loss.packets, is_new)) enter_recovery(loss);
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

// RFC 6937 section 3.1, with the slow-start reduction bound.
void NewReno::reduce_proportionally(const AckedPacket& packet) {
  state_.prr_delivered_bytes += packet.bytes;
  int64_t send_bytes = 0;
  if (packet.inflight_bytes > state_.ssthresh_bytes) {
    const int64_t share = state_.prr_delivered_bytes * state_.ssthresh_bytes;
    send_bytes = divide_rounding_up(share, state_.recover_flight_bytes) - state_.prr_out_bytes;
  } else {
    const int64_t unsent = state_.prr_delivered_bytes - state_.prr_out_bytes;
    const int64_t limit = std::max(unsent, packet.bytes) + packet_bytes_;
    send_bytes = std::min(state_.ssthresh_bytes - packet.inflight_bytes, limit);
  }
  state_.cwnd_bytes = packet.inflight_bytes + std::max<int64_t>(send_bytes, 0);
}

void NewReno::enter_recovery(const Loss& loss) {
  state_.recover_flight_bytes = loss.inflight_bytes + lost_bytes(loss);
  halve_ssthresh(state_.recover_flight_bytes);
  state_.in_recovery = true;
  state_.recovery_point = state_.next_seq;
  state_.prr_delivered_bytes = state_.prr_out_bytes = 0;
  state_.cwnd_bytes =
      loss.inflight_bytes + packet_bytes_;  // the fast retransmission's packet may leave at once
}

void NewReno::restart(const Loss& loss) {
  halve_ssthresh(loss.inflight_bytes + lost_bytes(loss));
  state_.in_recovery = false;
  state_.recovery_point = state_.next_seq;
  state_.cwnd_bytes = kLossWindowPackets * packet_bytes_;
}

void NewReno::halve_ssthresh(int64_t flight_bytes) {
  state_.ssthresh_bytes = std::max(flight_bytes / 2, kMinSsthreshPackets * packet_bytes_);  // RFC 5681 eq. 4
  state_.acked_in_window_bytes = 0;
}

}  // namespace ccgym
