// Section 5.3.3: the ProbeBW cycle Down, Cruise, Refill, Up, and the long-term bound on the inflight that it
// learns.
#include <algorithm>

#include "agents/controllers/bbr/bbr3.hh"

namespace ccgym {

void Bbr3::update_phase(Time now, const AckEvent& ack, double bw_mbps) {
  switch (mode_) {
    case Mode::down:
      if (is_time_to_probe(now)) return start_refill();
      if (is_time_to_cruise(ack.inflight_bytes)) mode_ = Mode::cruise;
      return;
    case Mode::cruise:
      if (is_time_to_probe(now)) start_refill();
      return;
    case Mode::refill:
      if (rounds_.begins()) start_up(bw_mbps);
      return;
    case Mode::up:
      if (!is_time_to_go_down(ack, bw_mbps)) return;
      probed_too_high_ = false;
      return start_down(now);
    case Mode::startup:
    case Mode::drain:
    case Mode::probe_rtt:
      return;
  }
}

// AdaptLongTermModel. Returns true if it has entered Refill, so that the phase is not to change again at this
// ACK.
bool Bbr3::adapt_long_term(const AckEvent& ack) {
  if (rounds_.begins() && ack_phase_ == AckPhase::probe_starting) ack_phase_ = AckPhase::probe_feedback;
  if (rounds_.begins() && ack_phase_ == AckPhase::probe_stopping) {
    end_feedback(ack.rate);
    if (mode_ == Mode::refill) return true;
  }
  const AckedPacket& newest = ack.newest();
  if (bounds_.longterm_bytes == InflightBounds::kNone || lost_too_much(newest, ack.declared_lost_bytes))
    return false;
  bounds_.longterm_bytes =
      std::max(bounds_.longterm_bytes, static_cast<double>(newest.inflight_bytes_at_departure));
  if (mode_ == Mode::up) raise_long_term(ack);
  return false;
}

// One round after the end of a probe its losses are known. If the probe stopped early, at the bound, and did
// not cause heavy losses, the next one begins at once (section 5.3.3.6).
void Bbr3::end_feedback(const RateSample& rate) {
  samples_probe_ = false;
  ack_phase_ = AckPhase::idle;
  if (!in_probe_bw()) return;
  if (!rate.app_limited) max_bw_mbps_.advance();
  if (probed_with_caution_ && !probed_too_high_) start_refill();
}

// Whether the flow is limited by cwnd (C.is_cwnd_limited), and cwnd by inflight_longterm.
bool Bbr3::fills_long_term() const {
  return rounds_.count() - cwnd_filled_in_round_ <= 1 && cwnd_bytes_ >= bounds_.longterm_bytes;
}

// ProbeInflightLongtermUpward: raises the bound while the flow uses all of it without heavy losses.
void Bbr3::raise_long_term(const AckEvent& ack) {
  if (!fills_long_term()) return;
  bounds_.longterm_bytes += packets(slope_.rise_packets(static_cast<double>(ack.acked_bytes())));
  if (rounds_.begins()) slope_.steepen(cwnd_bytes_, packets(1));
}

void Bbr3::start_down(Time now) {
  mode_ = Mode::down;
  lost_in_round_ = marked_in_round_ = false;
  latest_bw_mbps_ = latest_bytes_ = 0;
  slope_.stop();
  wait_.start(now, random_);
  ack_phase_ = AckPhase::probe_stopping;
  start_round();
}

void Bbr3::start_refill() {
  mode_ = Mode::refill;
  bounds_.forget_short_term();
  slope_.reset();
  probed_with_caution_ = false;
  ack_phase_ = AckPhase::refilling;
  start_round();
}

void Bbr3::start_up(double bw_mbps) {
  mode_ = Mode::up;
  samples_probe_ = true;
  ack_phase_ = AckPhase::probe_starting;
  start_round();
  forget_full_bandwidth(bw_mbps);
  slope_.steepen(cwnd_bytes_, packets(1));
}

bool Bbr3::is_time_to_probe(Time now) const {
  return wait_.is_over(now, target_inflight_bytes() / packets(1));
}

bool Bbr3::is_time_to_cruise(int64_t inflight_bytes) const {
  const double most_bytes =
      std::min(headroom_bytes(), with_quantum(bdp_bytes(Rate::from_mbps(max_bw_mbps_.best()))));
  return static_cast<double>(inflight_bytes) <= most_bytes;
}

// If the last probe caused heavy losses, this one stops at the bound. While the bound limits the flow, rounds
// without growth of the bandwidth do not end the probe.
bool Bbr3::is_time_to_go_down(const AckEvent& ack, double bw_mbps) {
  if (probed_too_high_ && static_cast<double>(ack.inflight_bytes) >= bounds_.longterm_bytes) {
    probed_with_caution_ = true;
    return true;
  }
  if (fills_long_term()) {
    forget_full_bandwidth(bw_mbps);
    return false;
  }
  return full_bw_now_;
}

}  // namespace ccgym
