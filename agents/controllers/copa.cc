#include "agents/controllers/copa.hh"

#include <algorithm>
#include <cmath>

#include "agents/controllers/checked.hh"

namespace ccgym {

namespace {

using std::chrono::seconds;

constexpr double kMinWindowPackets = 2;
constexpr Time kRttMinWindow = seconds{10};  // section 2: RTTmin
constexpr int kRttMaxRtts = 4;               // section 2.2: RTTmax over the last four RTTs
constexpr int kNearlyEmptyRtts = 5;          // section 2.2: a nearly empty queue within five RTTs
constexpr double kNearlyEmptyShare = 0.1;    // section 2.2: d_q < 0.1 (RTTmax - RTTmin)
constexpr double kPacingGain = 2;            // section 2.1: rate 2 cwnd / RTTstanding

// The response to heavy loss, as in the authors' implementation.
constexpr double kHeavyLossBeta = 0.7;    // factor of cwnd
constexpr double kHeavyLossRate = 0.3;    // loss rate above which it applies
constexpr int kHeavyLossRtts = 2;         // over which the loss rate is measured
constexpr double kHeavyLossPackets = 20;  // fewer packets give no loss rate

double nanoseconds_of(Time time) { return static_cast<double>(time.count()); }

}  // namespace

Copa::Copa(int64_t packet_bytes, const Config& config)
    : packet_bytes_{static_cast<double>(packet_bytes)},
      default_delta_{checked("copa: delta", config.delta, 1e-6, 1e3)},
      state_{.cwnd_packets = static_cast<double>(kInitialWindowPackets), .delta = config.delta} {
  update_limits();
}

// The callees are inline, because the calls took a fifth of the processor time of an ACK.
void Copa::on_ack(Time now, const AckEvent& ack) {
  if (!ack.lost.empty()) note_losses(ack.lost);
  if (ack.acked.empty()) return;
  observe(now, ack.rtt);
  update_mode(now, ack.rtt.smoothed);
  if (ack.newest().sent_at >= state_.window_began) [[unlikely]]
    end_window(now, ack);
  const double before_packets = state_.cwnd_packets;
  for (std::size_t packet = 0; packet < ack.acked.size(); ++packet) update_cwnd();
  if (ack.limited_by == Limit::application) [[unlikely]]  // RFC 9002, section 7.8
    state_.cwnd_packets = std::min(state_.cwnd_packets, before_packets);
  update_limits();
}

void Copa::note_losses(std::span<const LostPacket> lost) {
  const auto is_new = [this](const LostPacket& packet) { return packet.sent_at >= state_.backed_off_at; };
  state_.lost_in_window |= std::ranges::any_of(lost, is_new);
}

void Copa::on_timeout(Time now, const Timeout& timeout) {
  note_losses(timeout.lost);
  // The losses of the time-out have been responded to: the next loss rate is measured without them.
  loss_rate_start_ = {now, timeout.delivered_bytes, timeout.declared_lost_bytes};
  state_.cwnd_packets = kMinWindowPackets;
  state_.velocity = 1;
  state_.slow_start = true;
  update_limits();
}

// pacing_rate is made once and then only assigned to: if the flag of the optional were written at every ACK,
// limits() would wait for that write.
inline void Copa::update_limits() {
  const double cwnd_bytes = state_.cwnd_packets * packet_bytes_;
  limits_.cwnd_bytes = static_cast<int64_t>(cwnd_bytes + 0.5);
  if (delays_.standing_ns <= 0) return;
  if (!limits_.pacing_rate) limits_.pacing_rate.emplace();
  *limits_.pacing_rate = Rate::of(kPacingGain * cwnd_bytes, rtt_standing_.best());
}

inline void Copa::observe(Time now, const RttStats& rtt) {
  rtt_standing_.update(now, rtt.latest, rtt.smoothed / 2);
  rtt_min_.update(now, rtt.latest, kRttMinWindow);
  rtt_max_.update(now, rtt.latest, kRttMaxRtts * rtt.smoothed);
  const double min_ns = nanoseconds_of(rtt_min_.best());  // exact, as every RTT is below 2^53 ns
  delays_.standing_ns = nanoseconds_of(rtt_standing_.best());
  delays_.queueing_ns = delays_.standing_ns - min_ns;
  delays_.span_ns = nanoseconds_of(rtt_max_.best()) - min_ns;
}

// Section 2.2: if only Copa flows share a bottleneck, its queue is nearly empty at least once in five RTTs.
// Otherwise a buffer-filling flow competes, and Copa enters competitive mode.
inline void Copa::update_mode(Time now, Time smoothed_rtt) {
  if (delays_.queueing_ns <= kNearlyEmptyShare * delays_.span_ns) state_.nearly_empty_at = now;
  state_.competitive = now - state_.nearly_empty_at > kNearlyEmptyRtts * smoothed_rtt;
  if (!state_.competitive) state_.delta = default_delta_;
}

void Copa::end_window(Time now, const AckEvent& ack) {
  if (!state_.slow_start && ack.limited_by != Limit::application) update_velocity();
  state_.net_increases = 0;
  if (now > loss_rate_start_.time + kHeavyLossRtts * ack.rtt.latest) respond_to_heavy_losses(now, ack);
  if (state_.competitive) update_delta(now);
  state_.lost_in_window = false;
  state_.window_began = now;
}

// Section 2.1: the direction of a window is the one in which most of its ACKs moved cwnd. The velocity
// doubles while the direction stays the same, and is reset to 1 when it changes.
void Copa::update_velocity() {
  const Direction direction = state_.net_increases > 0 ? Direction::up : Direction::down;
  state_.velocity = direction == state_.direction ? 2 * state_.velocity : 1;
  state_.direction = direction;
}

// If the buffer is too small for a measurable queueing delay, only losses show that the window is too large.
// This rule then ends slow start, and stops the growth of the velocity; no other rule does.
void Copa::respond_to_heavy_losses(Time now, const AckEvent& ack) {
  const auto lost_bytes = static_cast<double>(ack.declared_lost_bytes - loss_rate_start_.lost_bytes);
  const double all_bytes =
      lost_bytes + static_cast<double>(ack.delivered_bytes - loss_rate_start_.delivered_bytes);
  if (all_bytes < kHeavyLossPackets * packet_bytes_) return;
  loss_rate_start_ = {now, ack.delivered_bytes, ack.declared_lost_bytes};
  if (lost_bytes <= kHeavyLossRate * all_bytes) return;
  state_.cwnd_packets = std::max(kHeavyLossBeta * state_.cwnd_packets, kMinWindowPackets);
  state_.slow_start = false;
  state_.velocity = 1;
}

// Section 2.2, competitive mode: AIMD of 1/delta, which stays at least that of the default mode.
void Copa::update_delta(Time now) {
  const double inverse = 1 / state_.delta;
  const double next = state_.lost_in_window ? inverse / 2 : inverse + 1;
  state_.delta = std::min(1 / next, default_delta_);
  if (state_.lost_in_window) state_.backed_off_at = now;
}

// Section 2.1, steps 2 and 3: moves cwnd towards the target rate 1/(delta d_q), eq. 1. copysign instead of a
// branch on the direction, which the processor could not predict.
inline void Copa::update_cwnd() {
  const double headroom = headroom_ns();
  state_.slow_start &= headroom >= 0;
  if (state_.slow_start) [[unlikely]] {
    state_.cwnd_packets += 1;
  } else {
    state_.net_increases += headroom >= 0 ? 1 : -1;
    const double step = std::copysign(step_packets(), headroom);
    state_.cwnd_packets = std::max(state_.cwnd_packets + step, kMinWindowPackets);
  }
}

// v / (delta cwnd), at most one packet per ACK, as in the authors' implementation: velocity is limited to the
// value at which cwnd moves as fast as in slow start.
inline double Copa::step_packets() {
  const double delta_cwnd = state_.delta * state_.cwnd_packets;
  const double max_velocity = std::max(delta_cwnd, 1.0);
  while (state_.velocity > max_velocity) state_.velocity /= 2;
  return std::min(state_.velocity / delta_cwnd, 1.0);
}

// RTTstanding - delta cwnd d_q: not negative while cwnd / RTTstanding <= 1 / (delta d_q), the target rate.
// Written without divisions, because d_q may be 0.
inline double Copa::headroom_ns() const {
  return delays_.standing_ns - state_.delta * state_.cwnd_packets * delays_.queueing_ns;
}

}  // namespace ccgym
