// An episode of losses (RFC 6582): the losses among the packets that were in flight when the first of them
// was detected, and that left after the last episode began. The scheme responds once to all of them. If all
// packets that were declared lost arrive after all, the losses were spurious, and the response has to be
// undone (Linux, tcp_input.c: undo_marker and undo_retrans).
#pragma once

#include <algorithm>
#include <span>

#include "transport/congestion_controller.hh"

namespace ccgym {

class LossEpisode {
 public:
  // Whether the packet left before the last episode, or time-out, began.
  [[nodiscard]] bool is_older(uint64_t seq) const { return seq < ends_at_seq_; }
  // Whether one of the packets left after that, so that the response to the last episode does not cover it.
  [[nodiscard]] bool begins_with(std::span<const LostPacket> lost) const {
    return std::ranges::any_of(lost, [this](const LostPacket& packet) { return !is_older(packet.seq); });
  }

  // Begins an episode that covers all packets before `next_seq`, the next packet to be sent. The losses of
  // the ACK that begins it still have to be passed to `count`.
  void begin(uint64_t next_seq) {
    first_seq_ = ends_at_seq_;
    ends_at_seq_ = next_seq;
    lost_packets_ = 0;
    caused_by_losses_only_ = true;
  }

  // Begins an episode; or, while the scheme still responds to the last one, extends that to the packets that
  // have left since it began.
  void begin_or_extend(uint64_t next_seq, bool still_responding) {
    still_responding ? void(ends_at_seq_ = next_seq) : begin(next_seq);
  }

  // Counts the losses of an ACK that belong to the episode, and notes whether the ACK reports CE marks.
  void count(const AckEvent& ack) {
    caused_by_losses_only_ &= ack.ce_packets == 0;
    lost_packets_ +=
        std::ranges::count_if(ack.lost, [this](const LostPacket& packet) { return covers(packet.seq); });
  }

  // A time-out: the response to it covers all packets sent so far.
  void abandon(uint64_t next_seq) {
    caused_by_losses_only_ = false;
    ends_at_seq_ = next_seq;
  }

  // A packet that was declared lost has arrived. Returns true if all losses of the episode have now proved
  // spurious, and neither marks nor a time-out were part of it.
  bool undone_by(uint64_t seq) {
    return lost_packets_ > 0 && covers(seq) && --lost_packets_ == 0 && caused_by_losses_only_;
  }

  // The first packet that left after the episode began.
  [[nodiscard]] uint64_t ends_at_seq() const { return ends_at_seq_; }

 private:
  [[nodiscard]] bool covers(uint64_t seq) const { return seq >= first_seq_ && is_older(seq); }

  uint64_t ends_at_seq_{0};
  uint64_t first_seq_{0};
  int64_t lost_packets_{0};           // of the episode, that have not arrived since
  bool caused_by_losses_only_{true};  // no CE mark and no time-out
};

}  // namespace ccgym
