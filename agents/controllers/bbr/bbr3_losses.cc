// Sections 5.5.10 and 5.5.11: the response to losses and CE marks, and how it is undone after spurious
// losses.
#include <algorithm>
#include <utility>

#include "agents/controllers/bbr/bbr3.hh"

namespace ccgym {

// Section 5.6.4.4: an episode begins with the loss of a packet that left after the last episode began.
void Bbr3::respond_to_losses(Time now, const AckEvent& ack) {
  const bool begins = recovery_.episode.begins_with(ack.lost);
  if (begins) save_before_loss();
  note_losses(now, ack.lost, ack.declared_lost_bytes);
  if (!begins) return;
  recovery_.episode.begin_or_extend(ack.next_seq, recovery_.active);
  recovery_.active = true;
}

void Bbr3::on_timeout(Time now, const Timeout& timeout) {
  save_before_loss();
  note_losses(now, timeout.lost, timeout.declared_lost_bytes);
  if (!before_timeout_) before_timeout_ = recovery_;
  recovery_.active = true;
  recovery_.episode.abandon(timeout.next_seq);
  cwnd_bytes_ = packets(1);
}

// Processes each lost packet with the number of bytes that the flow had lost up to and including it.
void Bbr3::note_losses(Time now, std::span<const LostPacket> lost, int64_t declared_lost_bytes) {
  int64_t lost_bytes = declared_lost_bytes - static_cast<int64_t>(lost.size()) * packet_bytes_;
  for (const LostPacket& packet : lost) {
    lost_bytes += packet.bytes;
    note_loss(packet);
    if (samples_probe_) check_loss(now, packet, lost_bytes);
  }
}

void Bbr3::note_loss(const LostPacket& packet) {
  if (!lost_in_round_) loss_round_ends_at_delivered_bytes_ = delivered_bytes_;
  lost_in_round_ = true;
  if (packet.seq != lost_range_ends_at_seq_) ++lost_ranges_in_round_;
  lost_range_ends_at_seq_ = packet.seq + 1;
}

// Section 5.5.10.3: the short-term bounds after a round with losses or marks.
void Bbr3::adapt_lower_bounds() {
  bounds_.begin_short_term(cwnd_bytes_);
  const double by_marks =
      marked_in_round_ ? bounds_.lowered_for_marks(marks_.alpha()) : InflightBounds::kNone;
  if (lost_in_round_) bounds_.lower_for_losses(latest_bytes_, latest_bw_mbps_, max_bw_mbps_.best());
  bounds_.shortterm_bytes = std::min(bounds_.shortterm_bytes, by_marks);
}

// A probe has gone too far also if too large a share of the packets of a round is marked.
void Bbr3::check_marks(Time now, const AckedPacket& newest, bool app_limited) {
  if (samples_probe_ && rounds_.begins() && marks_.rounds_too_high() > 0)
    bound_inflight(now, static_cast<double>(newest.inflight_bytes_at_departure), app_limited);
}

// HandleLostPacket: the inflight was too high if more than 2 % of it was lost. The new bound is the inflight
// at which the losses reached that share (InflightAtLoss).
void Bbr3::check_loss(Time now, const LostPacket& packet, int64_t lost_bytes) {
  if (!lost_too_much(packet, lost_bytes)) return;
  const auto prior_inflight_bytes = static_cast<double>(packet.inflight_bytes_at_departure - packet.bytes);
  const auto prior_lost = static_cast<double>(lost_bytes - packet.lost_bytes_at_departure - packet.bytes);
  const double prefix =
      std::max((kLossThreshold * prior_inflight_bytes - prior_lost) / (1 - kLossThreshold), 0.0);
  bound_inflight(now, prior_inflight_bytes + prefix, packet.app_limited);
}

// HandleInflightTooHigh, section 5.5.10.2. The inflight of an application-limited flow does not become the
// bound, because it does not show how much the path holds.
void Bbr3::bound_inflight(Time now, double inflight_bytes, bool app_limited) {
  probed_too_high_ = true;
  samples_probe_ = false;
  if (!app_limited)
    bounds_.longterm_bytes = std::max(inflight_bytes, InflightBounds::kBeta * target_inflight_bytes());
  if (mode_ != Mode::up) return;
  before_loss_.left_mode = Mode::up;
  start_down(now);
}

// Losses during a recovery, including that of a time-out, belong to it: the state before its first loss is
// kept.
void Bbr3::save_before_loss() {
  save_cwnd();
  if (!recovery_.active) before_loss_ = {.left_mode = {}, .bounds = bounds_};
}

// Undoes the response to an episode of which all losses have proved spurious, or to a spurious time-out;
// after the latter, a recovery that it interrupted goes on.
void Bbr3::on_spurious_loss(Time /*now*/, const SpuriousLoss& loss) {
  if (recovery_.episode.undone_by(loss.seq)) {
    recovery_.active = false;
    undo_losses();
  }
  if (!loss.timeout || !before_timeout_) return;
  recovery_ = *std::exchange(before_timeout_, std::nullopt);
  undo_losses();
}

// Section 5.5.11.2: restores cwnd, the bounds, and the mode that was left because of the losses.
void Bbr3::undo_losses() {
  restore_cwnd();
  lost_in_round_ = false;
  forget_full_bandwidth(0);
  bounds_.widen(before_loss_.bounds);
  const std::optional<Mode> left = std::exchange(before_loss_.left_mode, std::nullopt);
  if (left == Mode::startup) full_bw_reached_ = false;
  if (!left || mode_ == *left || mode_ == Mode::probe_rtt) return;
  *left == Mode::startup ? void(mode_ = Mode::startup) : start_refill();
}

void Bbr3::save_cwnd() {
  const bool reduced = recovery_.active || mode_ == Mode::probe_rtt;
  prior_cwnd_bytes_ = reduced ? std::max(prior_cwnd_bytes_, cwnd_bytes_) : cwnd_bytes_;
}

void Bbr3::restore_cwnd() { cwnd_bytes_ = std::max(cwnd_bytes_, prior_cwnd_bytes_); }

}  // namespace ccgym
