// Section 5.3.3: the cycle Down, Cruise, Refill, Up, and the bound on what is in flight that it learns.
#include <algorithm>

#include "agents/controllers/bbr/bbr3.hh"

namespace ccgym {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kBeta = 0.7;            // section 2.7
constexpr double kLossThreshold = 0.02;  // section 2.7: LossThresh
constexpr int kMaxRenoRounds = 63;       // section 5.3.3.5.2
constexpr int kMaxUpRounds = 30;         // section 5.3.3.6

}  // namespace

void Bbr3::update_phase(Time now, const AckedPacket& packet, double bw_mbps) {
  switch (mode_) {
    case Mode::down:
      if (is_time_to_probe(now)) return start_refill();
      if (is_time_to_cruise(packet.inflight_bytes)) mode_ = Mode::cruise;
      return;
    case Mode::cruise:
      if (is_time_to_probe(now)) start_refill();
      return;
    case Mode::refill:
      if (rounds_.begins()) start_up(bw_mbps);
      return;
    case Mode::up:
      if (is_time_to_go_down(packet, bw_mbps)) start_down(now);
      return;
    case Mode::startup:
    case Mode::drain:
    case Mode::probe_rtt:
      return;
  }
}

// BBRAdaptLongTermModel.
void Bbr3::adapt_long_term(Time now, const AckedPacket& packet) {
  if (rounds_.begins() && ack_phase_ == AckPhase::probe_starting) ack_phase_ = AckPhase::probe_feedback;
  if (rounds_.begins() && ack_phase_ == AckPhase::probe_stopping) {
    samples_probe_ = false;
    ack_phase_ = AckPhase::idle;
    if (mode_ != Mode::drain && mode_ != Mode::probe_rtt) max_bw_mbps_.advance();
  }
  const std::optional<SentRecord> sent = sent_.find(packet.seq);
  if (!sent || longterm_bytes_ == kNoBound) return;
  const auto flight_bytes = static_cast<double>(sent->inflight_bytes);
  const auto lost_bytes = static_cast<double>(total_lost_bytes_ - sent->lost_bytes);
  if (lost_bytes > kLossThreshold * flight_bytes) {
    if (samples_probe_) bound_inflight(now, flight_bytes);
    return;
  }
  longterm_bytes_ = std::max(longterm_bytes_, flight_bytes);
  if (mode_ == Mode::up) raise_long_term(packet);
}

// BBRHandleLostPacket: the flight was too large if more than two percent of it was lost; the bound is where
// the losses reached that share (BBRInflightAtLoss).
void Bbr3::judge_loss(Time now, const LostPacket& packet) {
  const std::optional<SentRecord> sent = sent_.find(packet.seq);
  if (!sent) return;
  const auto flight_bytes = static_cast<double>(sent->inflight_bytes);
  const auto lost_bytes = static_cast<double>(total_lost_bytes_ - sent->lost_bytes);
  if (lost_bytes <= kLossThreshold * flight_bytes) return;
  const auto size_bytes = static_cast<double>(packet.bytes);
  const double prior_flight = flight_bytes - size_bytes;
  const double prior_lost = lost_bytes - size_bytes;
  const double prefix = std::max((kLossThreshold * prior_flight - prior_lost) / (1 - kLossThreshold), 0.0);
  bound_inflight(now, prior_flight + prefix);
}

// BBRHandleInflightTooHigh.
void Bbr3::bound_inflight(Time now, double inflight_bytes) {
  samples_probe_ = false;
  longterm_bytes_ = std::max(inflight_bytes, kBeta * target_inflight_bytes());
  if (mode_ == Mode::up) start_down(now);
}

bool Bbr3::fills_long_term(const AckedPacket& packet) const {
  const auto prior_inflight = static_cast<double>(packet.inflight_bytes + packet.bytes);
  return prior_inflight + packets(1) >= cwnd_bytes_ && cwnd_bytes_ >= longterm_bytes_;
}

// BBRProbeInflightLongtermUpward: by one, two, four ... packets per round trip.
void Bbr3::raise_long_term(const AckedPacket& packet) {
  if (!fills_long_term(packet)) return;
  up_acked_bytes_ += static_cast<double>(packet.bytes);
  if (up_acked_bytes_ >= up_bytes_per_packet_) {
    up_acked_bytes_ -= up_bytes_per_packet_;
    longterm_bytes_ += packets(1);
  }
  if (rounds_.begins()) steepen();
}

void Bbr3::steepen() {
  const double packets_per_round = static_cast<double>(1U << up_rounds_);
  up_rounds_ = std::min(up_rounds_ + 1, kMaxUpRounds);
  up_bytes_per_packet_ = std::max(cwnd_bytes_ / packets_per_round, packets(1));
}

void Bbr3::start_down(Time now) {
  mode_ = Mode::down;
  lost_in_round_ = false;
  latest_bw_mbps_ = latest_bytes_ = 0;
  up_bytes_per_packet_ = kNoBound;
  rounds_since_probe_ = static_cast<int>(random_() % 2);  // BBRPickProbeWait
  probe_wait_ = seconds{2} + milliseconds{random_() % 1000};
  cycle_began_ = now;
  ack_phase_ = AckPhase::probe_stopping;
  start_round();
}

void Bbr3::start_refill() {
  mode_ = Mode::refill;
  forget_short_term();
  up_rounds_ = 0;
  up_acked_bytes_ = 0;
  ack_phase_ = AckPhase::refilling;
  start_round();
}

void Bbr3::start_up(double bw_mbps) {
  mode_ = Mode::up;
  samples_probe_ = true;
  ack_phase_ = AckPhase::probe_starting;
  start_round();
  forget_full_bandwidth(bw_mbps);
  steepen();
}

// After two to three seconds, or as many rounds as Reno would need for its own next loss.
bool Bbr3::is_time_to_probe(Time now) const {
  const double reno_rounds = std::min(target_inflight_bytes() / packets(1), double{kMaxRenoRounds});
  return now > cycle_began_ + probe_wait_ || rounds_since_probe_ >= reno_rounds;
}

bool Bbr3::is_time_to_cruise(int64_t inflight_bytes) const {
  const double most_bytes = std::min(headroom_bytes(), with_quantum(bdp_bytes(max_bw_mbps_.best())));
  return static_cast<double>(inflight_bytes) <= most_bytes;
}

// While the bound holds the flow back, the bandwidth cannot be seen to have stopped growing.
bool Bbr3::is_time_to_go_down(const AckedPacket& packet, double bw_mbps) {
  if (fills_long_term(packet)) {
    forget_full_bandwidth(bw_mbps);
    return false;
  }
  return full_bw_now_;
}

}  // namespace ccgym
