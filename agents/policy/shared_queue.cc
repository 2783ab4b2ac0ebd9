#include "agents/policy/shared_queue.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kOwnPackets = 1.2;  // at 1 packet per ms; as the root of the rate

// Times as many at most. Beside one Copa a flow had 70 % of 36 links without a bound, on the fastest 90 %,
// and 25 to 75 % on 53 % of them; with this bound 62 %, and on 92 %.
constexpr double kMostOwn = 6;

// A network that wants far more has seen the rate rise or the queue run empty: without this a flow used 80 %
// of two recorded cellular links in place of 90 %.
constexpr double kLeastPart = 0.85;

}  // namespace

void SharedQueue::on_ack(const AckEvent& ack) {
  if (ack.rate.interval == Time::zero()) return;
  const Time interval = std::max(ack.rate.interval, ack.rtt.min);
  delivered_packets_per_ms_ = static_cast<double>(ack.rate.delivered_bytes) /
                              static_cast<double>(ack.newest().bytes) / in_ms(interval);
}

double SharedQueue::window(const RttStats& rtt, double cwnd_packets, double wanted_packets) const {
  const double own_packets = kOwnPackets * std::sqrt(cwnd_packets / in_ms(rtt.smoothed));
  const double asked_packets = wanted_packets + own_packets;
  const double most_packets = delivered_packets_per_ms_ * in_ms(rtt.min) + kMostOwn * own_packets;
  return most_packets < kLeastPart * asked_packets ? asked_packets : std::min(asked_packets, most_packets);
}

}  // namespace ccgym
