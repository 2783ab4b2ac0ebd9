// Loss detection by packet and time threshold (RFC 9002, section 6.1). Both thresholds adapt to the
// reordering seen on the path, as sections 6.1.1 and 6.1.2 allow.
#pragma once

#include <algorithm>
#include <vector>

#include "transport/congestion_controller.hh"
#include "transport/packet_ring.hh"

namespace ccgym {

class LossDetector {
 public:
  void on_delivered(uint64_t seq) { delivered_end_ = std::max(delivered_end_, seq + 1); }

  // First sequence number that may still be in flight.
  [[nodiscard]] uint64_t oldest_in_flight() const { return oldest_; }

  // Declares lost, and appends to `lost`, the packets that are too far, in packets or in time, behind the
  // largest delivered one.
  void detect(Time now, const RttStats& rtt, PacketRing& ring, int64_t packet_bytes,
              std::vector<LostPacket>& lost) {
    deadline_ = Time::max();
    for (; oldest_ < ring.next_seq(); ++oldest_) {
      const PacketRecord& record = ring[oldest_];
      if (record.state != PacketState::in_flight) continue;
      if (oldest_ + 1 >= delivered_end_) return;
      const Time too_late = record.sent_at + reordering_patience(rtt);
      if (delivered_end_ - 1 - oldest_ < packet_threshold_ && too_late > now) {
        deadline_ = too_late;
        return;
      }
      give_up(PacketState::lost, ring, packet_bytes, lost);
    }
  }

  // A time-out: appends all packets in flight to `lost`; an ACK may show later that they were not lost.
  void time_out(PacketRing& ring, int64_t packet_bytes, std::vector<LostPacket>& lost) {
    deadline_ = Time::max();
    for (; oldest_ < ring.next_seq(); ++oldest_) {
      if (ring[oldest_].state == PacketState::in_flight)
        give_up(PacketState::timed_out, ring, packet_bytes, lost);
    }
  }

  // The ACK of a timed-out packet shows that the time-out was spurious, as in F-RTO (RFC 5682): the later
  // timed-out packets are in flight again. Returns their number.
  int64_t undo_timeout(uint64_t delivered_seq, PacketRing& ring) {
    int64_t revived = 0;
    for (uint64_t seq = delivered_seq + 1; seq < ring.next_seq(); ++seq) {
      if (ring[seq].state != PacketState::timed_out) continue;
      ring[seq].state = PacketState::in_flight;
      ++revived;
    }
    oldest_ = std::min(oldest_, delivered_seq + 1);
    return revived;
  }

  // A packet that was declared lost has arrived, `age` after its departure. Both thresholds rise to values at
  // which it would not have been declared lost, or to their limits. To be called before `on_delivered` of the
  // same ACK.
  void on_spurious_loss(uint64_t seq, Time age, const RttStats& rtt) {
    const uint64_t distance = std::max(delivered_end_, seq + 1) - 1 - seq;
    packet_threshold_ = std::max(packet_threshold_, std::min(distance + 1, kMaxPacketThreshold));
    while (patience_eighths_ < kMaxPatienceEighths && reordering_patience(rtt) <= age) ++patience_eighths_;
  }

  // When the oldest packet in flight reaches the time threshold; Time::max() if no later packet has been
  // delivered.
  [[nodiscard]] Time deadline() const { return deadline_; }

 private:
  static constexpr uint64_t kPacketThreshold = 3;       // RFC 9002, kPacketThreshold
  static constexpr uint64_t kMaxPacketThreshold = 300;  // Linux: net.ipv4.tcp_max_reordering
  static constexpr int kPatienceEighths = 9;            // RFC 9002, kTimeThreshold: 9/8 of the RTT
  static constexpr int kMaxPatienceEighths = 16;        // RFC 8985, section 6.2: at most one RTT more

  [[nodiscard]] Time reordering_patience(const RttStats& rtt) const {  // RFC 9002: at least 1 ms
    return std::max(Time{std::chrono::milliseconds{1}},
                    std::max(rtt.smoothed, rtt.latest) * patience_eighths_ / 8);
  }

  // Not inline, because it is rare: inline, its vector would take registers from the code that runs for every
  // packet.
  [[gnu::noinline]] void give_up(PacketState state, PacketRing& ring, int64_t packet_bytes,
                                 std::vector<LostPacket>& lost) {
    PacketRecord& record = ring[oldest_];
    record.state = state;
    lost.push_back({.seq = oldest_,
                    .bytes = packet_bytes,
                    .sent_at = record.sent_at,
                    .inflight_bytes_at_departure = record.inflight_packets * packet_bytes,
                    .lost_bytes_at_departure = record.lost_packets * packet_bytes,
                    .app_limited = record.rate_mark.app_limited});
  }

  uint64_t packet_threshold_{kPacketThreshold};
  int patience_eighths_{kPatienceEighths};
  uint64_t delivered_end_{0};  // one past the largest delivered packet
  uint64_t oldest_{0};         // no older packet is in flight
  Time deadline_{Time::max()};
};

}  // namespace ccgym
