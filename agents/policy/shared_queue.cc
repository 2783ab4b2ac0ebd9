#include "agents/policy/shared_queue.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kOwnPackets = 1.2;  // at 1 packet per ms; as the root of the rate

// Times as many at most. With twice as many, two flows of which one has twice the other's round trip have a
// Jain index of 0.96 on 96 links in place of 0.97.
constexpr double kMostOwn = 3;

// A network that wants far more has seen the rate rise or the queue run empty: without this a flow used 80 %
// of two recorded cellular links in place of 90 %. But a wish that goes before the bound too easily takes
// from those that count their packets: with 0.85 a flow beside one Copa had its part on 63 % of 96 links,
// with this on 85 %.
constexpr double kLeastPart = 0.78;

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
