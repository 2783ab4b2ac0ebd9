// Fast recovery of a window scheme: one reduction for all losses of an episode (RFC 6582), spread over the
// episode's round trip by Proportional Rate Reduction (RFC 6937).
#pragma once

#include "agents/controllers/loss_episode.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class FastRecovery {
 public:
  explicit FastRecovery(int64_t packet_bytes) : packet_bytes_{packet_bytes} {}

  // Whether a packet that this ACK reports lost, or the packet of an ACK with marks, left after the last
  // episode began (RFC 3168, section 6.1.2): the window has not been reduced for it yet.
  [[nodiscard]] bool begins_with(const AckEvent& ack) const;

  // Begins an episode that ends at `ssthresh_bytes`; returns its first window.
  int64_t begin(const AckEvent& ack, int64_t ssthresh_bytes);

  // An ACK that begins no episode: its losses may belong to the last one.
  void count(const AckEvent& ack) { episode_.count(ack); }

  // A packet that was declared lost has arrived. Returns whether it was the last one of an episode with
  // spurious losses only: then the episode is over, and the caller restores the window.
  bool undone_by(uint64_t seq);

  // A time-out: it covers all packets sent so far, and ends the episode.
  void abandon(const Timeout& timeout);

  // Whether the packet left before the last episode, or time-out, began.
  [[nodiscard]] bool is_older(uint64_t seq) const { return episode_.is_older(seq); }

  [[nodiscard]] bool active() const { return active_; }

  // An ACK in an active episode; returns the window, which is ssthresh once the ACK has ended the episode.
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

// Bytes in flight before the loss was noticed.
int64_t inflight_before(const AckEvent& ack);
int64_t inflight_before(const Timeout& timeout);

}  // namespace ccgym
