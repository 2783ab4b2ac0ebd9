// An episode of losses (RFC 6582): of packets that left before the first of the losses was noticed, and after
// the last episode began. Once all that seemed lost has arrived, nothing was, and the answer to it is to be
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
  // Whether one of them was not: the answer to the last episode does not cover it.
  [[nodiscard]] bool begins_with(std::span<const LostPacket> lost) const {
    return std::ranges::any_of(lost, [this](const LostPacket& packet) { return !is_older(packet.seq); });
  }

  // With the next packet to leave; the losses that begin it are yet to be counted.
  void begin(uint64_t next_seq) {
    first_seq_ = ends_at_seq_;
    ends_at_seq_ = next_seq;
    lost_packets_ = 0;
    of_losses_alone_ = true;
  }

  // The same of losses that come while the answer to the last episode goes on: that one reaches to packets
  // that left since it began.
  void begin_or_extend(uint64_t next_seq, bool goes_on) {
    goes_on ? void(ends_at_seq_ = next_seq) : begin(next_seq);
  }

  // What an ACK tells: losses of the episode, and marks.
  void count(const AckEvent& ack) {
    of_losses_alone_ &= ack.ce_packets == 0;
    lost_packets_ +=
        std::ranges::count_if(ack.lost, [this](const LostPacket& packet) { return is_of(packet.seq); });
  }

  // A time-out: what has left so far is answered.
  void abandon(uint64_t next_seq) {
    of_losses_alone_ = false;
    ends_at_seq_ = next_seq;
  }

  // A packet that was given up has arrived. Whether it was the last one of an episode that only such packets
  // told of.
  bool undone_by(uint64_t seq) {
    return lost_packets_ > 0 && is_of(seq) && --lost_packets_ == 0 && of_losses_alone_;
  }

  // The first packet that left after it began.
  [[nodiscard]] uint64_t ends_at_seq() const { return ends_at_seq_; }

 private:
  [[nodiscard]] bool is_of(uint64_t seq) const { return seq >= first_seq_ && is_older(seq); }

  uint64_t ends_at_seq_{0};
  uint64_t first_seq_{0};
  int64_t lost_packets_{0};     // that have not arrived
  bool of_losses_alone_{true};  // no marks, no time-out
};

}  // namespace ccgym
