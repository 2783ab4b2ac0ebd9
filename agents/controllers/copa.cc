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

// As in the authors' implementation: part of the window that is kept if more than this share of at least so
// many packets was lost over two RTTs.
constexpr double kKeptOnHeavyLoss = 0.7;
constexpr double kHeavyLoss = 0.3;
constexpr int kHeavyLossRtts = 2;
constexpr double kHeavyLossPackets = 20;

double nanoseconds_of(Time time) { return static_cast<double>(time.count()); }

}  // namespace

Copa::Copa(int64_t packet_bytes, const Config& config)
    : packet_bytes_{static_cast<double>(packet_bytes)},
      default_delta_{checked("copa: delta", config.delta, 1e-6, 1e3)},
      state_{.cwnd_packets = static_cast<double>(kInitialWindowPackets), .delta = config.delta} {
  update_limits();
}

// All callees are inline: the calls took a fifth of an ACK's processor time.
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
  counted_ = {now, timeout.delivered_bytes, timeout.declared_lost_bytes};  // these are responded to
  state_.cwnd_packets = kMinWindowPackets;
  state_.velocity = 1;
  state_.slow_start = true;
  update_limits();
}

// The flag of the rate is written once: limits() would wait for a byte that was just written.
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
  const double min_ns = nanoseconds_of(rtt_min_.best());  // exact: no RTT has 2^53 ns
  delays_.standing_ns = nanoseconds_of(rtt_standing_.best());
  delays_.queueing_ns = delays_.standing_ns - min_ns;
  delays_.span_ns = nanoseconds_of(rtt_max_.best()) - min_ns;
}

// Section 2.2: if only Copa flows share a bottleneck, its queue is nearly empty at least once per five RTTs.
// If it is not, there is a buffer-filling flow.
inline void Copa::update_mode(Time now, Time smoothed_rtt) {
  if (delays_.queueing_ns <= kNearlyEmptyShare * delays_.span_ns) state_.nearly_empty_at = now;
  state_.competitive = now - state_.nearly_empty_at > kNearlyEmptyRtts * smoothed_rtt;
  if (!state_.competitive) state_.delta = default_delta_;
}

void Copa::end_window(Time now, const AckEvent& ack) {
  if (!state_.slow_start && ack.limited_by != Limit::application) update_velocity();
  state_.rises_less_falls = 0;
  if (now > counted_.since + kHeavyLossRtts * ack.rtt.latest) answer_heavy_losses(now, ack);
  if (state_.competitive) update_delta(now);
  state_.lost_in_window = false;
  state_.window_began = now;
}

// Section 2.1: the direction of a window is that of most of its ACKs. The velocity doubles while the
// direction stays the same, and is reset when it changes.
void Copa::update_velocity() {
  const Direction direction = state_.rises_less_falls > 0 ? Direction::up : Direction::down;
  state_.velocity = direction == state_.direction ? 2 * state_.velocity : 1;
  state_.direction = direction;
}

// If the queue is too short to be measured, only losses show that the window is too large. This rule ends
// slow start there, and a rising velocity, as nothing else does.
void Copa::answer_heavy_losses(Time now, const AckEvent& ack) {
  const auto lost = static_cast<double>(ack.declared_lost_bytes - counted_.lost_bytes);
  const double all = lost + static_cast<double>(ack.delivered_bytes - counted_.delivered_bytes);
  if (all < kHeavyLossPackets * packet_bytes_) return;
  counted_ = {now, ack.delivered_bytes, ack.declared_lost_bytes};
  if (lost <= kHeavyLoss * all) return;
  state_.cwnd_packets = std::max(kKeptOnHeavyLoss * state_.cwnd_packets, kMinWindowPackets);
  state_.slow_start = false;
  state_.velocity = 1;
}

// Section 2.2: 1/delta by additive increase and multiplicative decrease, never below the default mode's.
void Copa::update_delta(Time now) {
  const double inverse = 1 / state_.delta;
  const double next = state_.lost_in_window ? inverse / 2 : inverse + 1;
  state_.delta = std::min(1 / next, default_delta_);
  if (state_.lost_in_window) state_.backed_off_at = now;
}

// Section 2.1, steps 2 and 3: towards the target rate 1/(delta d_q), eq. 1. There is no branch on the
// direction, because no processor could predict it.
inline void Copa::update_cwnd() {
  const double headroom = headroom_ns();
  state_.slow_start &= headroom >= 0;
  if (state_.slow_start) [[unlikely]] {
    state_.cwnd_packets += 1;
  } else {
    state_.rises_less_falls += headroom >= 0 ? 1 : -1;
    const double step = std::copysign(step_packets(), headroom);
    state_.cwnd_packets = std::max(state_.cwnd_packets + step, kMinWindowPackets);
  }
}

// v / (delta cwnd), at most one packet per ACK, as in the authors' implementation: the velocity does not grow
// beyond the value that moves the window as fast as slow start.
inline double Copa::step_packets() {
  const double packet_per_ack = state_.delta * state_.cwnd_packets;
  const double most = std::max(packet_per_ack, 1.0);
  while (state_.velocity > most) state_.velocity /= 2;
  return std::min(state_.velocity / packet_per_ack, 1.0);
}

// Not negative below the target rate: this is cwnd / RTTstanding <= 1 / (delta d_q) without its divisions,
// because d_q may be 0.
inline double Copa::headroom_ns() const {
  return delays_.standing_ns - state_.delta * state_.cwnd_packets * delays_.queueing_ns;
}

}  // namespace ccgym
