#include "agents/controllers/cubic.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ccgym {

namespace {

constexpr double kC = 0.4;                                // section 5, packets per s^3
constexpr double kBeta = 0.7;                             // section 4.6: beta_cubic
constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);  // section 4.3: alpha_cubic
constexpr double kInitialWindowPackets = 10;              // RFC 6928
constexpr double kLossWindowPackets = 1;                  // RFC 5681 section 3.1: after a timeout
constexpr double kMinSsthreshPackets = 2;                 // eq. 5's floor, section 4.6
constexpr double kMaxGrowthPerAck = 0.5;                  // section 4.2: target <= 1.5 cwnd
constexpr double kBlindGrowthPerAck = 0.05;  // Linux: the least before the first loss, while W_max is unknown

double seconds_of(Time time) { return std::chrono::duration<double>{time}.count(); }

}  // namespace

Cubic::Cubic(int64_t packet_bytes)
    : packet_bytes_{packet_bytes},
      state_{.cwnd_packets = kInitialWindowPackets,
             .ssthresh_packets = std::numeric_limits<double>::infinity()},
      recovery_{packet_bytes} {}

void Cubic::on_sent(Time /*now*/, const SentPacket& packet) {
  hystart_.on_sent(packet);
  recovery_.on_sent(packet);
}

void Cubic::on_ack(Time now, const AckedPacket& packet) {
  if (!recovery_.is_older(packet.seq)) before_timeout_.reset();
  if (recovery_.active()) {
    state_.cwnd_packets = static_cast<double>(recovery_.on_ack(packet)) / static_cast<double>(packet_bytes_);
    if (recovery_.active()) return;
  }
  if (state_.cwnd_packets >= state_.ssthresh_packets) return avoid_congestion(now, packet.rtt);
  state_.cwnd_packets += 1;
  if (hystart_.on_ack(now, packet, state_.cwnd_packets)) state_.ssthresh_packets = state_.cwnd_packets;
}

void Cubic::on_loss(Time /*now*/, const Loss& loss) {
  if (!loss.timeout && !recovery_.begins_with(loss)) return;
  if (loss.timeout && !before_timeout_) before_timeout_ = state_;
  reduce(static_cast<double>(flight_before(loss)) / static_cast<double>(packet_bytes_));
  if (loss.timeout) {
    recovery_.abandon();
    hystart_.restart();
    state_.max_packets = 0;  // section 4.8: the next epoch begins at its W_max
    state_.cwnd_packets = kLossWindowPackets;
    return;
  }
  const double ssthresh_bytes = state_.ssthresh_packets * static_cast<double>(packet_bytes_);
  const int64_t cwnd_bytes = recovery_.begin(loss, std::llround(ssthresh_bytes));
  state_.cwnd_packets = static_cast<double>(cwnd_bytes) / static_cast<double>(packet_bytes_);
}

// Section 4.9.1.
void Cubic::on_spurious_timeout(Time /*now*/) {
  if (!before_timeout_) return;
  state_ = *std::exchange(before_timeout_, std::nullopt);
  recovery_.forget_timeout();
}

SendLimits Cubic::limits() const {
  const double cwnd_bytes = state_.cwnd_packets * static_cast<double>(packet_bytes_);
  return {.cwnd_bytes = static_cast<int64_t>(cwnd_bytes + 0.5), .pacing_mbps = {}};
}

// Sections 4.6 and 4.7: the window that was lost becomes W_max, a smaller one when it did not reach the last
// W_max: another flow needs the room.
void Cubic::reduce(double flight_packets) {
  const bool gives_way = flight_packets < state_.max_packets;
  state_.max_packets = gives_way ? flight_packets * (1 + kBeta) / 2 : flight_packets;
  state_.prior_packets = flight_packets;
  state_.ssthresh_packets = std::max(flight_packets * kBeta, kMinSsthreshPackets);
  state_.epoch.reset();
}

// Sections 4.3 to 4.5: the larger of the cubic function and what Reno would have reached.
void Cubic::avoid_congestion(Time now, const RttStats& rtt) {
  if (!state_.epoch) state_.epoch = new_epoch(now);
  double& reno_packets = state_.epoch->reno_packets;
  reno_packets += (reno_packets < state_.prior_packets ? kAlpha : 1) / state_.cwnd_packets;
  state_.cwnd_packets += growth_per_ack(now - state_.epoch->began + rtt.min);
  state_.cwnd_packets = std::max(state_.cwnd_packets, reno_packets);
}

Cubic::Epoch Cubic::new_epoch(Time now) const {
  const double cwnd = state_.cwnd_packets;
  const double origin = std::max(state_.max_packets, cwnd);
  return {.began = now,
          .origin_packets = origin,
          .k_s = std::cbrt((origin - cwnd) / kC),  // eq. 2
          .reno_packets = cwnd};
}

// Eq. 1 at a round trip from now, approached by (target - cwnd) / cwnd per ACK (section 4.4).
double Cubic::growth_per_ack(Time elapsed) const {
  const double from_k_s = seconds_of(elapsed) - state_.epoch->k_s;
  const double target = state_.epoch->origin_packets + kC * from_k_s * from_k_s * from_k_s;
  const double least = state_.max_packets > 0 ? 0 : kBlindGrowthPerAck;
  return std::clamp(target / state_.cwnd_packets - 1, least, kMaxGrowthPerAck);
}

}  // namespace ccgym
