// Section 5.3.4, ProbeRTT: drains the queue to measure the min RTT, if it has not been measured for 5 s.
#include <algorithm>

#include "agents/controllers/bbr/bbr3.hh"

namespace ccgym {

namespace {

using std::chrono::milliseconds;

constexpr Time kProbeRttTime = milliseconds{200};

}  // namespace

// Section 5.3.4.3: the min RTT, and whether to enter ProbeRTT.
void Bbr3::update_min_rtt(Time now, const AckEvent& ack) {
  const bool probe_is_due = min_rtt_.update(now, ack.rtt.latest);
  if (probe_is_due && !restarts_from_idle_ && mode_ != Mode::probe_rtt) {
    save_cwnd();
    mode_ = Mode::probe_rtt;
    probe_rtt_until_.reset();
    ack_phase_ = AckPhase::probe_stopping;
    start_round();
  }
  if (mode_ == Mode::probe_rtt) probe_rtt(now, ack);
}

// Section 5.3.4.3: at least 200 ms and a round trip with at most half of the BDP in flight.
void Bbr3::probe_rtt(Time now, const AckEvent& ack) {
  held_back_ = true;
  const double probing_bytes = std::max(bdp_bytes(bandwidth()) / 2, packets(kMinWindowPackets));
  if (!probe_rtt_until_) {
    if (static_cast<double>(ack.inflight_bytes) > probing_bytes) return;
    probe_rtt_until_ = now + kProbeRttTime;
    probe_rtt_round_done_ = false;
    return start_round();
  }
  probe_rtt_round_done_ |= rounds_.begins();
  if (probe_rtt_round_done_ && now > *probe_rtt_until_) leave_probe_rtt(now);
}

void Bbr3::leave_probe_rtt(Time now) {
  min_rtt_.on_probed(now);
  restore_cwnd();
  bounds_.forget_short_term();
  if (!full_bw_reached_) {
    mode_ = Mode::startup;
    return;
  }
  start_down(now);
  mode_ = Mode::cruise;
}

// Section 5.4.1: after an idle period there is no queue. Pacing at the bandwidth fills the pipe without
// building one, and the min RTT is measured without ProbeRTT.
void Bbr3::on_restart(Time now, Time /*idle*/) {
  restarts_from_idle_ = true;
  aggregation_.restart(now);
  if (in_probe_bw()) pacing_rate_ = kPacingMargin * bandwidth();
  if (mode_ == Mode::probe_rtt && probe_rtt_until_ && now > *probe_rtt_until_) leave_probe_rtt(now);
}

}  // namespace ccgym
