// Fast recovery of a window-based scheme: one reduction for all losses of an episode (RFC 6582). Proportional
// Rate Reduction (RFC 6937) spreads it over the ACKs of the round trip that follows.
#pragma once

#include "agents/controllers/loss_episode.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class FastRecovery {
 public:
  explicit FastRecovery(int64_t packet_bytes) : packet_bytes_{packet_bytes} {}

  // Whether this ACK begins an episode: it reports a lost packet, or CE marks on a packet, that left after
  // the last episode began. The window has not been reduced for such a packet yet (RFC 3168, section 6.1.2).
  [[nodiscard]] bool begins_with(const AckEvent& ack) const;

  // Begins an episode, at the end of which the window is `ssthresh_bytes`; returns the first window in it.
  int64_t begin(const AckEvent& ack, int64_t ssthresh_bytes);

  // To be called for an ACK with losses or marks that begins no episode: they may belong to the last one.
  void count(const AckEvent& ack) { episode_.count(ack); }

  // A packet that was declared lost has arrived. Returns true if all losses of its episode have now proved
  // spurious: the episode is over, and the caller restores the window.
  bool undone_by(uint64_t seq);

  // A time-out ends the episode; its response covers all packets sent so far.
  void abandon(const Timeout& timeout);

  // Whether the packet left before the last episode, or time-out, began.
  [[nodiscard]] bool is_older(uint64_t seq) const { return episode_.is_older(seq); }

  [[nodiscard]] bool active() const { return active_; }

  // To be called for an ACK in an active episode. Returns the window, which is ssthresh if the ACK ends the
  // episode.
  int64_t on_ack(const AckEvent& ack);

 private:
  [[nodiscard]] int64_t sendable_bytes(const AckEvent& ack) const;

  int64_t packet_bytes_;
  LossEpisode episode_{};
  bool active_{false};
  int64_t ssthresh_bytes_{0};
  int64_t delivered_bytes_{0};       // RFC 6937: prr_delivered
  int64_t prior_inflight_bytes_{0};  // RFC 6937: RecoverFS
};

// Bytes in flight before the loss was detected.
int64_t inflight_before(const AckEvent& ack);
int64_t inflight_before(const Timeout& timeout);

}  // namespace ccgym
