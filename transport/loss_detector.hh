// Loss detection by packet and time threshold (RFC 9002, section 6.1).
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "transport/congestion_controller.hh"
#include "transport/packet_ring.hh"

namespace ccgym {

class LossDetector {
 public:
  void on_delivered(uint64_t seq) {
    largest_delivered_ = std::max(largest_delivered_, seq);
    any_delivered_ = true;
  }

  // First sequence number that may still be in flight.
  [[nodiscard]] uint64_t oldest_in_flight() const { return oldest_; }

  // Marks as lost what lies too far, in packets or in time, behind the largest delivered packet.
  void detect(Time now, const RttStats& rtt, PacketRing& ring, int64_t packet_bytes,
              std::vector<LostPacket>& lost) {
    deadline_.reset();
    const Time patience = reordering_patience(rtt);
    for (; oldest_ < ring.next_seq(); ++oldest_) {
      PacketRecord& record = ring[oldest_];
      if (record.state != PacketState::in_flight) continue;
      if (!any_delivered_ || oldest_ >= largest_delivered_) return;
      if (largest_delivered_ - oldest_ < kPacketThreshold && record.sent_at + patience > now) {
        deadline_ = record.sent_at + patience;
        return;
      }
      record.state = PacketState::lost;
      lost.push_back({oldest_, packet_bytes, record.sent_at});
    }
  }

  // Everything in flight is presumed lost, until an ACK says otherwise.
  void time_out(PacketRing& ring, int64_t packet_bytes, std::vector<LostPacket>& lost) {
    deadline_.reset();
    for (; oldest_ < ring.next_seq(); ++oldest_) {
      PacketRecord& record = ring[oldest_];
      if (record.state != PacketState::in_flight) continue;
      record.state = PacketState::timed_out;
      lost.push_back({oldest_, packet_bytes, record.sent_at});
    }
  }

  // An ACK of a timed-out packet: the time-out was spurious, what followed it is still on its way
  // (the conclusion F-RTO draws, RFC 5682). Returns the number of packets back in flight.
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

  [[nodiscard]] std::optional<Time> deadline() const { return deadline_; }

 private:
  static constexpr uint64_t kPacketThreshold = 3;  // RFC 9002, kPacketThreshold

  static Time reordering_patience(const RttStats& rtt) {  // RFC 9002: 9/8 of the RTT, at least 1 ms
    return std::max(Time{std::chrono::milliseconds{1}}, std::max(rtt.smoothed, rtt.latest) * 9 / 8);
  }

  uint64_t largest_delivered_{0};
  uint64_t oldest_{0};
  bool any_delivered_{false};
  std::optional<Time> deadline_{};
};

}  // namespace ccgym
