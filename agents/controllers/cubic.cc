#include "agents/controllers/cubic.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace ccgym {

namespace {

constexpr double kC = 0.4;                                // section 5, packets per s^3
constexpr double kBeta = 0.7;                             // section 4.6: beta_cubic
constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);  // section 4.3: alpha_cubic
constexpr double kLossWindowPackets = 1;                  // RFC 5681 section 3.1: after a timeout
constexpr double kMinSsthreshPackets = 2;                 // eq. 5's floor, section 4.6
constexpr double kMaxGrowthPerAck = 0.5;                  // section 4.2: target <= 1.5 cwnd
constexpr double kMinGrowthPerAck = 0.05;  // Linux (cnt <= 20): only before the first loss, without a W_max

}  // namespace

Cubic::Cubic(int64_t packet_bytes)
    : packet_bytes_{packet_bytes},
      state_{.cwnd_packets = kInitialWindowPackets,
             .ssthresh_packets = std::numeric_limits<double>::infinity()},
      recovery_{packet_bytes} {}

void Cubic::on_ack(Time now, const AckEvent& ack) {
  if (!ack.lost.empty() || ack.ce_packets > 0) respond_to_congestion(ack);
  if (ack.acked.empty()) return;
  if (!recovery_.is_older(ack.newest().seq)) before_timeout_.reset();
  if (recovery_.active()) state_.cwnd_packets = in_packets(recovery_.on_ack(ack));
  if (!recovery_.active()) grow(now, ack);
}

// Section 5.8: while the application limits the flow, the window does not grow, and the time does not count
// in the cubic function.
void Cubic::grow(Time now, const AckEvent& ack) {
  if (ack.limited_by == Limit::application) {
    if (!unused_since_) unused_since_ = now;
    return;
  }
  if (unused_since_) shift_epoch(now - *std::exchange(unused_since_, std::nullopt));
  for (std::size_t packet = 0; packet < ack.acked.size(); ++packet) {
    if (state_.cwnd_packets >= state_.ssthresh_packets) {
      avoid_congestion(now, ack.rtt);
    } else {
      state_.cwnd_packets += 1;
    }
  }
  if (state_.cwnd_packets >= state_.ssthresh_packets) return;
  if (hystart_.on_ack(now, ack, state_.cwnd_packets)) state_.ssthresh_packets = state_.cwnd_packets;
}

void Cubic::on_restart(Time /*now*/, Time idle) {
  if (!unused_since_) shift_epoch(idle);
}

void Cubic::shift_epoch(Time time) {
  if (state_.epoch) state_.epoch->began += time;
}

void Cubic::respond_to_congestion(const AckEvent& ack) {
  if (!recovery_.begins_with(ack)) return recovery_.count(ack);
  before_losses_ = state_;
  reduce(in_packets(inflight_before(ack)));
  const double ssthresh_bytes = state_.ssthresh_packets * static_cast<double>(packet_bytes_);
  state_.cwnd_packets = in_packets(recovery_.begin(ack, std::llround(ssthresh_bytes)));
}

void Cubic::on_timeout(Time /*now*/, const Timeout& timeout) {
  if (!before_timeout_) {  // RFC 5681 section 3.1: consecutive time-outs reduce ssthresh once
    before_timeout_ = {state_, recovery_};
    reduce(in_packets(inflight_before(timeout)));
  }
  recovery_.abandon(timeout);
  hystart_.restart();
  state_.max_packets = 0;  // section 4.8: W_max of the next epoch is the cwnd at its start
  state_.cwnd_packets = kLossWindowPackets;
}

// Sections 4.9.1 and 4.9.2: a spurious time-out, and spurious losses.
void Cubic::on_spurious_loss(Time /*now*/, const SpuriousLoss& loss) {
  if (recovery_.undone_by(loss.seq)) {
    before_losses_.cwnd_packets = std::max(before_losses_.cwnd_packets, state_.cwnd_packets);
    state_ = before_losses_;
  }
  if (!loss.timeout || !before_timeout_) return;
  std::tie(state_, recovery_) = *std::exchange(before_timeout_, std::nullopt);
}

SendLimits Cubic::limits() const {
  const double cwnd_bytes = state_.cwnd_packets * static_cast<double>(packet_bytes_);
  return {.cwnd_bytes = static_cast<int64_t>(cwnd_bytes + 0.5)};
}

std::vector<Metric> Cubic::metrics() const {
  return {{"ssthresh", "packets", state_.ssthresh_packets},
          {"w_max", "packets", state_.max_packets},
          {"w_est", "packets", state_.epoch ? state_.epoch->reno_packets : 0},
          {"recovery", "", recovery_.active() ? 1.0 : 0.0}};
}

// Section 4.6: the window at the loss becomes W_max. Section 4.7, fast convergence: if it has not reached the
// last W_max, a flow that joined needs bandwidth, and W_max becomes smaller than the window at the loss.
void Cubic::reduce(double inflight_packets) {
  const bool fast_convergence = inflight_packets < state_.max_packets;
  state_.max_packets = fast_convergence ? inflight_packets * (1 + kBeta) / 2 : inflight_packets;
  state_.prior_packets = inflight_packets;
  state_.ssthresh_packets = std::max(inflight_packets * kBeta, kMinSsthreshPackets);
  state_.epoch.reset();
}

// Sections 4.3 to 4.5: the larger of the cubic function and W_est, the window that Reno would have reached.
void Cubic::avoid_congestion(Time now, const RttStats& rtt) {
  if (!state_.epoch) state_.epoch = new_epoch(now);
  double& reno_packets = state_.epoch->reno_packets;
  reno_packets += (reno_packets < state_.prior_packets ? kAlpha : 1) / state_.cwnd_packets;
  state_.cwnd_packets += growth_per_ack(now - state_.epoch->began + rtt.min);
  state_.cwnd_packets = std::max(state_.cwnd_packets, reno_packets);
}

Cubic::Epoch Cubic::new_epoch(Time now) const {
  const double cwnd = state_.cwnd_packets;
  const double plateau = std::max(state_.max_packets, cwnd);
  return {.began = now,
          .plateau_packets = plateau,
          .k_s = std::cbrt((plateau - cwnd) / kC),  // eq. 2
          .reno_packets = cwnd};
}

// Section 4.4: (target - cwnd) / cwnd packets per ACK, where the target is W_cubic (eq. 1) one RTT from now.
double Cubic::growth_per_ack(Time elapsed) const {
  const double from_k_s = in_seconds(elapsed) - state_.epoch->k_s;
  const double target = state_.epoch->plateau_packets + kC * from_k_s * from_k_s * from_k_s;
  const double least = state_.max_packets > 0 ? 0 : kMinGrowthPerAck;
  return std::clamp(target / state_.cwnd_packets - 1, least, kMaxGrowthPerAck);
}

}  // namespace ccgym
