// An episode of losses (RFC 6582): losses of packets that left after the last episode began and before the
// first of these losses was noticed. Once all packets that were declared lost have arrived, the losses were
// spurious, and the response to them is to be undone (Linux, tcp_input.c: undo_marker and undo_retrans).
#pragma once

#include <algorithm>
#include <span>

#include "transport/congestion_controller.hh"

namespace ccgym {

class LossEpisode {
 public:
  // Whether the packet left before the last episode, or time-out, began.
  [[nodiscard]] bool is_older(uint64_t seq) const { return seq < ends_at_seq_; }
  // Whether one of them left later: the response to the last episode does not cover it.
  [[nodiscard]] bool begins_with(std::span<const LostPacket> lost) const {
    return std::ranges::any_of(lost, [this](const LostPacket& packet) { return !is_older(packet.seq); });
  }

  // Begins an episode with the next packet to leave; the losses that begin it are counted afterwards.
  void begin(uint64_t next_seq) {
    first_seq_ = ends_at_seq_;
    ends_at_seq_ = next_seq;
    lost_packets_ = 0;
    of_losses_alone_ = true;
  }

  // The same for losses during the response to the last episode, if `goes_on`: the episode is extended to the
  // packets that have left since it began.
  void begin_or_extend(uint64_t next_seq, bool goes_on) {
    goes_on ? void(ends_at_seq_ = next_seq) : begin(next_seq);
  }

  // Counts the losses of the episode and the marks that an ACK reports.
  void count(const AckEvent& ack) {
    of_losses_alone_ &= ack.ce_packets == 0;
    lost_packets_ +=
        std::ranges::count_if(ack.lost, [this](const LostPacket& packet) { return is_of(packet.seq); });
  }

  // A time-out: the response covers all packets sent so far.
  void abandon(uint64_t next_seq) {
    of_losses_alone_ = false;
    ends_at_seq_ = next_seq;
  }

  // A packet that was declared lost has arrived. Returns whether it was the last one of an episode with
  // spurious losses only.
  bool undone_by(uint64_t seq) {
    return lost_packets_ > 0 && is_of(seq) && --lost_packets_ == 0 && of_losses_alone_;
  }

  // The first packet that left after it began.
  [[nodiscard]] uint64_t ends_at_seq() const { return ends_at_seq_; }

 private:
  [[nodiscard]] bool is_of(uint64_t seq) const { return seq >= first_seq_ && is_older(seq); }

  uint64_t ends_at_seq_{0};
  uint64_t first_seq_{0};
  int64_t lost_packets_{0};     // lost packets that have not arrived since
  bool of_losses_alone_{true};  // without marks and time-out
};

}  // namespace ccgym
