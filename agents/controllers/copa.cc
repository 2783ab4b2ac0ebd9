#include "agents/controllers/copa.hh"

#include <algorithm>

namespace ccgym {

namespace {

using std::chrono::seconds;

constexpr double kInitialWindowPackets = 10;  // RFC 6928
constexpr double kMinWindowPackets = 2;
constexpr Time kRttMinWindow = seconds{10};  // section 2: RTTmin
constexpr int kRttMaxRtts = 4;               // section 2.2: RTTmax over the last four RTTs
constexpr int kNearlyEmptyRtts = 5;          // section 2.2: a nearly empty queue within five RTTs
constexpr double kNearlyEmptyShare = 0.1;    // section 2.2: d_q < 0.1 (RTTmax - RTTmin)
constexpr int kSameDirectionRtts = 3;        // section 2.1: before the velocity doubles
constexpr double kPacingGain = 2;            // section 2.1: rate 2 cwnd / RTTstanding

double milliseconds_of(Time time) { return std::chrono::duration<double, std::milli>{time}.count(); }

}  // namespace

Copa::Copa(int64_t packet_bytes, double delta)
    : packet_bytes_{packet_bytes},
      default_delta_{delta},
      state_{.cwnd_packets = kInitialWindowPackets, .delta = delta} {}

void Copa::on_ack(Time now, const AckedPacket& packet) {
  observe(now, packet.rtt);
  update_mode(now, packet.rtt.smoothed);
  if (packet.sent_at >= state_.window_began) end_window(now);
  update_cwnd(now);
}

void Copa::on_loss(Time /*now*/, const Loss& loss) {
  const auto is_new = [this](const LostPacket& packet) { return packet.sent_at >= state_.backed_off_at; };
  state_.lost_in_window |= std::ranges::any_of(loss.packets, is_new);
  if (!loss.timeout) return;
  state_.cwnd_packets = kMinWindowPackets;
  state_.velocity = 1;
  state_.same_direction_rtts = 0;
  state_.slow_start = true;
}

SendLimits Copa::limits() const {
  const double cwnd_bytes = state_.cwnd_packets * static_cast<double>(packet_bytes_);
  SendLimits limits{.cwnd_bytes = static_cast<int64_t>(cwnd_bytes + 0.5), .pacing_mbps = {}};
  if (rtt_standing_.empty() || rtt_standing_.best() <= Time::zero()) return limits;
  limits.pacing_mbps = kPacingGain * cwnd_bytes * 8e-3 / milliseconds_of(rtt_standing_.best());
  return limits;
}

void Copa::observe(Time now, const RttStats& rtt) {
  rtt_standing_.update(now, rtt.latest, rtt.smoothed / 2);
  rtt_min_.update(now, rtt.latest, kRttMinWindow);
  rtt_max_.update(now, rtt.latest, kRttMaxRtts * rtt.smoothed);
}

// Section 2.2: a Copa-only bottleneck drains its queue at least once per five RTTs; one that does not is
// shared with a buffer-filling flow.
void Copa::update_mode(Time now, Time smoothed_rtt) {
  if (!state_.nearly_empty_at || queue_is_nearly_empty()) state_.nearly_empty_at = now;
  state_.competitive = now - *state_.nearly_empty_at > kNearlyEmptyRtts * smoothed_rtt;
  if (!state_.competitive) state_.delta = default_delta_;
}

// Section 2.2: d_q < 0.1 (RTTmax - RTTmin). Less than one packet in the queue counts as well: where a packet
// takes a millisecond, a tenth of Copa's own oscillation is less than clocks and links resolve.
bool Copa::queue_is_nearly_empty() const {
  const double span_ms = milliseconds_of(rtt_max_.best() - rtt_min_.best());
  const double packet_ms = milliseconds_of(rtt_standing_.best()) / state_.cwnd_packets;
  return milliseconds_of(queueing_delay()) <= std::max(kNearlyEmptyShare * span_ms, packet_ms);
}

void Copa::end_window(Time now) {
  update_velocity();
  if (state_.competitive) update_delta(now);
  state_.lost_in_window = false;
  state_.window_began = now;
}

// Section 2.1: doubles once per window while the direction holds, after it has held for three.
void Copa::update_velocity() {
  ++state_.same_direction_rtts;
  if (state_.same_direction_rtts >= kSameDirectionRtts) state_.velocity *= 2;
}

// Section 2.2: 1/delta by additive increase and multiplicative decrease, never below the default mode's.
void Copa::update_delta(Time now) {
  const double inverse = 1 / state_.delta;
  const double next = state_.lost_in_window ? inverse / 2 : inverse + 1;
  state_.delta = std::min(1 / next, default_delta_);
  if (state_.lost_in_window) state_.backed_off_at = now;
}

// The paper looks for a turn once per window, by comparing cwnd with its start. A velocity gathered one way
// would carry cwnd the other way until then: a turn takes effect at once, and begins a window of its own.
void Copa::turn(Time now, Direction direction) {
  state_.direction = direction;
  state_.velocity = 1;
  state_.same_direction_rtts = 0;
  state_.window_began = now;
}

// Section 2.1, steps 2 and 3: towards the target rate 1/(delta d_q), eq. 1. A step is at most a packet per
// ACK, so that the velocity cannot move the window faster than slow start does.
void Copa::update_cwnd(Time now) {
  const bool up = below_target_rate();
  state_.slow_start &= up;
  if (up != (state_.direction == Direction::up)) turn(now, up ? Direction::up : Direction::down);
  const double step = step_packets();
  if (state_.slow_start) {
    state_.cwnd_packets += 1;
  } else {
    state_.cwnd_packets = std::max(state_.cwnd_packets + (up ? step : -step), kMinWindowPackets);
  }
}

// v / (delta cwnd); downwards by no more per round trip than waits in the queue, for what empties it is seen
// a round trip later; this bound is ours, not the paper's.
double Copa::step_packets() const {
  const double gentle = 1 / (state_.delta * state_.cwnd_packets);
  double step = state_.velocity * gentle;
  if (state_.direction == Direction::down) {
    const double queued_share = milliseconds_of(queueing_delay()) / milliseconds_of(rtt_standing_.best());
    step = std::min(step, std::max(queued_share, gentle));
  }
  return std::min(1.0, step);
}

// cwnd / RTTstanding <= 1 / (delta d_q), without its divisions: d_q may be 0.
bool Copa::below_target_rate() const {
  const double queued_share = state_.delta * state_.cwnd_packets * milliseconds_of(queueing_delay());
  return queued_share <= milliseconds_of(rtt_standing_.best());
}

}  // namespace ccgym
