// Fast recovery of a window scheme: one reduction for all losses of an episode (RFC 6582), spread over the
// episode's round trip by Proportional Rate Reduction (RFC 6937).
#pragma once

#include "agents/controllers/loss_episode.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class FastRecovery {
 public:
  explicit FastRecovery(int64_t packet_bytes) : packet_bytes_{packet_bytes} {}

  // Whether a packet that this ACK shows lost left after the last episode began, or the ACK tells of marks
  // and its packet did (RFC 3168, section 6.1.2): the window has not paid for it yet.
  [[nodiscard]] bool begins_with(const AckEvent& ack) const;

  // Begins an episode that ends at `ssthresh_bytes`; returns the window of its first moment.
  int64_t begin(const AckEvent& ack, int64_t ssthresh_bytes);

  // An ACK that begins none: its losses may be the last episode's.
  void count(const AckEvent& ack) { episode_.count(ack); }

  // A packet that was given up has arrived. Whether it was the last of an episode that began for such packets
  // alone: nothing was lost, the episode is over, and the window is to be as it was before.
  bool undone_by(uint64_t seq);

  // A time-out: what has left so far is paid for, and no episode goes on.
  void abandon(const Timeout& timeout);

  // Whether the packet left before the last episode, or time-out, began.
  [[nodiscard]] bool is_older(uint64_t seq) const { return episode_.is_older(seq); }

  [[nodiscard]] bool active() const { return active_; }

  // One ACK of packets, in an active episode; returns the window, ssthresh when it has ended the episode.
  int64_t on_ack(const AckEvent& ack);

 private:
  [[nodiscard]] int64_t sendable_bytes(const AckEvent& ack) const;

  int64_t packet_bytes_;
  LossEpisode episode_{};
  bool active_{false};
  int64_t ssthresh_bytes_{0};
  int64_t delivered_bytes_{0};  // RFC 6937's prr_delivered and RecoverFS
  int64_t prior_inflight_bytes_{0};
};

// What was in flight before the loss was noticed.
int64_t inflight_before(const AckEvent& ack);
int64_t inflight_before(const Timeout& timeout);

}  // namespace ccgym
